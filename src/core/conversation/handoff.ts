import type { GitState } from './checkpoint.js';
import {
  evidenceIn,
  notUnderstoodIn,
  type EvidenceItem,
  type NotUnderstood,
} from './conversation-evidence.js';
import {
  planIn,
  toolUsesIn,
  type Conversation,
  type Entry,
  type PlanItem,
  type Prompt,
  type Summary,
} from './conversation.js';
import type { Millis } from '../reading.js';
import { summaryPoints } from './summary-points.js';
import { formatIsoTime } from '../time.js';
import { present } from '../present.js';

// What the next session needs to know: which files were changed, what the plan still holds, what the user asked for, what the last summary
// says. Everything is taken from the session file and from git; nothing is concluded from it, and what neither of them says stays empty.

/** Why there is a handoff. */
export type HandoffReason =
  /** the window is at hard */
  | 'threshold_critical'
  /** everything in the agent's plan is done */
  | 'task_complete'
  /** compacting has failed */
  | 'error'
  /** the user wants it */
  | 'requested';

/** A file that was changed, or a part of the plan that is done. */
export interface HandoffCompleted {
  readonly file?: string;
  /** of a file always `partial`: nothing on record says that it is finished */
  readonly status: 'done' | 'partial';
  /** of the plan's part, in the agent's words; of a file, who says that it changed */
  readonly notes: string;
}

/** A part of the agent's plan that is not done. */
export interface HandoffRemaining {
  readonly description: string;
  /** `high` for what the agent has begun */
  readonly priority: 'high' | 'normal';
}

/** Words of the user or of a model, verbatim. */
export interface HandoffText {
  readonly text: string;
  /** ISO 8601 */
  readonly at?: string;
  /** line of the session file, from 1 */
  readonly line: number;
  /** characters that were left out at its end */
  readonly cut?: number;
}

export interface HandoffRequest extends HandoffText {
  /** the agent has said or done nothing after it */
  readonly isUnanswered?: true;
}

export interface HandoffCommand {
  readonly command: string;
  /** how its last run ended; absent where the agent's records do not tell */
  readonly outcome?: 'failed';
}

export interface HandoffContext {
  /** from the last summary, in its words */
  readonly decisions: readonly string[];
  readonly patterns: readonly string[];
  readonly issues: readonly string[];
  /** sentences of the user that demand something, verbatim, the newest last */
  readonly constraints: readonly string[];
  /** relative to the session's folder where they are in it; each once */
  readonly filesModified: readonly string[];
  /** the last ones, the newest last; each once */
  readonly commands: readonly HandoffCommand[];
  /** tools of which ctxwrap cannot tell which files they changed or what they ran; absent if there were none */
  readonly notUnderstood?: readonly NotUnderstood[];
}

/** `ctxwrap.handoff/1`. Absent is what is not known. */
export interface Handoff {
  readonly schema: 'ctxwrap.handoff/1';
  /** ISO 8601 */
  readonly createdAt: string;
  /** the agent's id of the conversation */
  readonly agentId?: string;
  readonly runtime: string;
  readonly cwd?: string;
  readonly reason: HandoffReason;
  readonly completed: readonly HandoffCompleted[];
  readonly remaining: readonly HandoffRemaining[];
  readonly context: HandoffContext;
  /** the last messages of the user, the newest last */
  readonly requests: readonly HandoffRequest[];
  /** what the last compaction left for the model */
  readonly summary?: HandoffText;
  readonly git?: { readonly head?: string; readonly changed: number; readonly isCut?: true };
  /** how many files, parts of the plan and requests there were besides those listed */
  readonly omitted?: { readonly files?: number; readonly plan?: number; readonly requests?: number };
}

/** Parts that can be left out. */
export const handoffSections = [
  'completed',
  'remaining',
  'context',
  'commands',
  'requests',
  'summary',
] as const;

export type HandoffSection = (typeof handoffSections)[number];

export interface HandoffInput {
  readonly conversation: Conversation;
  readonly runtime: string;
  /** the folder of the session; the conversation's own where it tells one */
  readonly cwd?: string | undefined;
  readonly git?: GitState | undefined;
  /** the session's folder in its repository, with a slash at its end; '' for the repository's own */
  readonly gitPrefix?: string | undefined;
  /** `error` and `threshold_critical` as the running session has it */
  readonly reason?: HandoffReason | undefined;
  /** how many of the last requests */
  readonly requests?: number | undefined;
  readonly without?: readonly HandoffSection[] | undefined;
  readonly now: Millis;
}

export const DEFAULT_REQUESTS = 20;

// Bounds, in characters and entries: a session file can hold anything.
const MOST_FILES = 100;
const LONGEST_PATH = 400;
const MOST_PLAN = 50;
const LONGEST_ITEM = 500;
export const MOST_REQUESTS = 100;
const LONGEST_REQUEST = 2_000;
const LONGEST_SUMMARY = 8_000;
const MOST_COMMANDS = 10;
const LONGEST_COMMAND = 300;
const MOST_POINTS = 20;
const MOST_CONSTRAINTS = 20;

/** The handoff of a conversation. Pure. */
export const makeHandoff = (input: HandoffInput): Handoff => {
  const { conversation, runtime, git, now, without = [] } = input;
  const { entries, head } = conversation;
  const cwd = input.cwd ?? head.cwd;
  const has = (section: HandoffSection): boolean => !without.includes(section);
  const plan = planIn(entries).filter(({ text }) => lineOf(text, LONGEST_ITEM) !== '');
  const evidence = evidenceIn(entries, cwd);
  const files = changedFiles(evidence, input);
  const requests = has('requests') ? requestsIn(entries, input.requests) : { list: [], omitted: 0 };
  const summary = entries.findLast((entry) => entry.kind === 'summary');
  const kept = { files: has('completed') ? files : [], plan };
  return {
    schema: 'ctxwrap.handoff/1',
    createdAt: formatIsoTime(now),
    ...(head.id === undefined ? {} : { agentId: lineOf(head.id, LONGEST_PATH) }),
    runtime,
    ...(cwd === undefined ? {} : { cwd: lineOf(cwd, LONGEST_PATH) }),
    reason: input.reason ?? (isPlanDone(plan) ? 'task_complete' : 'requested'),
    completed: has('completed') ? completedIn(plan, files) : [],
    remaining: has('remaining') ? remainingIn(plan) : [],
    context: {
      ...(has('context') ? pointsIn(summary) : { decisions: [], patterns: [], issues: [] }),
      constraints: has('context') ? linesOf(evidence, 'constraint').slice(-MOST_CONSTRAINTS) : [],
      filesModified: kept.files.slice(0, MOST_FILES).map(({ file }) => file),
      commands: has('commands') ? commandsIn(entries) : [],
      ...notUnderstoodOf(entries),
    },
    requests: requests.list,
    ...summaryOf(has('summary') ? summary : undefined),
    ...(git === undefined ? {} : { git: gitOf(git) }),
    ...omittedOf({ files: kept.files.length - MOST_FILES, plan: plan.length, requests: requests.omitted }),
  };
};

const omittedOf = (counts: {
  readonly files: number;
  readonly plan: number;
  readonly requests: number;
}): Pick<Handoff, 'omitted'> => {
  const { files, requests } = counts;
  const plan = counts.plan - MOST_PLAN;
  if (files <= 0 && plan <= 0 && requests <= 0) return {};
  return {
    omitted: {
      ...(files > 0 ? { files } : {}),
      ...(plan > 0 ? { plan } : {}),
      ...(requests > 0 ? { requests } : {}),
    },
  };
};

const isPlanDone = (plan: readonly PlanItem[]): boolean =>
  plan.some(({ status }) => status === 'done') &&
  plan.every(({ status }) => status === 'done' || status === 'cancelled');

const gitOf = ({ head, dirty, isCut }: GitState): NonNullable<Handoff['git']> => ({
  ...present({ head }),
  changed: dirty.length,
  ...(isCut ? { isCut } : {}),
});

// Files.

interface ChangedFile {
  readonly file: string;
  readonly isEdited: boolean;
  readonly isInGit: boolean;
}

/** Every file that a tool of the agent has changed, or that git reports as changed; the agent's last ones first. */
const changedFiles = (
  evidence: readonly EvidenceItem[],
  { git, gitPrefix = '' }: Pick<HandoffInput, 'git' | 'gitPrefix'>,
): readonly ChangedFile[] => {
  const edited = linesOf(evidence, 'path').toReversed();
  const inGit = (git?.dirty ?? []).map((path) => fromPrefix(gitPrefix, path));
  const [ours, theirs] = [new Set(edited), new Set(inGit)];
  return [...new Set([...edited, ...inGit])]
    .filter((file) => file !== '')
    .map((file) => ({ file, isEdited: ours.has(file), isInGit: theirs.has(file) }));
};

const linesOf = (evidence: readonly EvidenceItem[], kind: EvidenceItem['kind']): readonly string[] => [
  ...new Set(evidence.filter((each) => each.kind === kind).map(({ text }) => lineOf(text, LONGEST_ITEM))),
];

/** A path of the repository as it is named in the session's folder. */
const fromPrefix = (prefix: string, path: string): string => {
  const named = path.startsWith(prefix)
    ? path.slice(prefix.length)
    : `${'../'.repeat(prefix.split('/').length - 1)}${path}`;
  return lineOf(named, LONGEST_PATH);
};

/** The words about a file: who says that it changed. */
const fileNotes = ({ isEdited, isInGit }: Pick<ChangedFile, 'isEdited' | 'isInGit'>): string =>
  [...(isEdited ? ['edited by the agent'] : []), ...(isInGit ? ['changed in git status'] : [])].join(', ');

const completedIn = (
  plan: readonly PlanItem[],
  files: readonly ChangedFile[],
): readonly HandoffCompleted[] => [
  ...plan
    .filter(({ status }) => status === 'done')
    .slice(-MOST_PLAN)
    .map(({ text }) => ({ status: 'done' as const, notes: lineOf(text, LONGEST_ITEM) })),
  ...files
    .slice(0, MOST_FILES)
    .map((each) => ({ file: each.file, status: 'partial' as const, notes: fileNotes(each) })),
];

const remainingIn = (plan: readonly PlanItem[]): readonly HandoffRemaining[] =>
  plan
    .filter(({ status }) => status === 'open' || status === 'active')
    .slice(0, MOST_PLAN)
    .map(({ text, status }) => ({
      description: lineOf(text, LONGEST_ITEM),
      priority: status === 'active' ? 'high' : 'normal',
    }));

// What was said.

const requestsIn = (
  entries: readonly Entry[],
  most = DEFAULT_REQUESTS,
): { readonly list: readonly HandoffRequest[]; readonly omitted: number } => {
  const prompts = entries.filter(
    (entry): entry is Prompt => entry.kind === 'prompt' && !entry.isCopy && cleanText(entry.text) !== '',
  );
  const last = entries.findLast(({ kind }) => kind === 'prompt' || kind === 'answer' || kind === 'call');
  const shown = most > 0 ? prompts.slice(-Math.min(most, MOST_REQUESTS)) : [];
  return {
    list: shown.map((prompt) => ({
      ...excerptOf(prompt, LONGEST_REQUEST),
      ...(prompt === last ? { isUnanswered: true as const } : {}),
    })),
    omitted: prompts.length - shown.length,
  };
};

const excerptOf = ({ source, text }: Prompt | Summary, most: number): HandoffText => {
  const whole = cleanText(text);
  const shown = cutTo(whole, most);
  return {
    text: shown,
    ...(source.at === undefined ? {} : { at: formatIsoTime(source.at) }),
    line: source.line + 1,
    ...(shown.length < whole.length ? { cut: whole.length - shown.length } : {}),
  };
};

const summaryOf = (summary: Summary | undefined): Pick<Handoff, 'summary'> =>
  summary === undefined || cleanText(summary.text) === ''
    ? {}
    : { summary: excerptOf(summary, LONGEST_SUMMARY) };

const pointsIn = (
  summary: Summary | undefined,
): Pick<HandoffContext, 'decisions' | 'patterns' | 'issues'> => {
  const points = summaryPoints(cleanText(summary?.text ?? ''));
  const listed = (items: readonly string[]): readonly string[] =>
    [...new Set(items.map((item) => lineOf(item, LONGEST_ITEM)))].slice(0, MOST_POINTS);
  return {
    decisions: listed(points.decisions),
    patterns: listed(points.patterns),
    issues: listed(points.issues),
  };
};

const notUnderstoodOf = (entries: readonly Entry[]): Pick<HandoffContext, 'notUnderstood'> => {
  const tools = notUnderstoodIn(entries);
  return tools.length === 0
    ? {}
    : { notUnderstood: tools.map(({ tool, calls }) => ({ tool: lineOf(tool, LONGEST_PATH), calls })) };
};

/** The last commands, each with how its last run ended. */
const commandsIn = (entries: readonly Entry[]): readonly HandoffCommand[] => {
  const found = new Map<string, HandoffCommand>();
  for (const { call, result } of toolUsesIn(entries)) {
    const commands = call.commands ?? [];
    const hasFailed = result?.isError === true && commands.length === 1; // of several, nothing says which one
    for (const command of commands.map((each) => lineOf(each, LONGEST_COMMAND))) {
      if (command === '') continue;
      found.delete(command); // the order is that of the last runs
      found.set(command, { command, ...(hasFailed ? { outcome: 'failed' } : {}) });
    }
  }
  return [...found.values()].slice(-MOST_COMMANDS);
};

// Texts of other programs: no control or format characters, so that they can be printed and typed.

/** Text of several lines; a newline is the only control character that is left in it. */
const cleanText = (text: string): string =>
  text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll('\t', '    ')
    .replace(/[^\P{C}\n]/gu, '')
    .split('\n')
    .map((line) => line.trimEnd()) // a pattern would take the square of a long line of blanks
    .join('\n')
    .replace(/^\n+|\n+$/g, '');

const lineOf = (text: string, most: number): string =>
  cutTo(
    cleanText(text.slice(0, most * 4))
      .replace(/\s+/g, ' ')
      .trim(),
    most,
  );

/** At most so many characters, and no half of one. */
const cutTo = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
