import {
  tokensOf,
  type Answered,
  type Call,
  type Entry,
  type PlanItem,
  type PlanChange,
  type Question,
  type Result,
  type SourceRecord,
  type Step,
  type TouchedFile,
} from '../core/conversation/conversation.js';
import type { Fact } from '../core/event.js';
import { getList, getText, isRecord, type JsonRecord } from '../core/json.js';
import { present } from '../core/present.js';
import { estimateTokens, type Millis } from '../core/reading.js';
import { outputText, outputTokens } from './records.js';

// Entries of a conversation from the parts of an agent's record; the same for all agents.

type TextKind = 'prompt' | 'context' | 'answer' | 'reasoning' | 'summary' | 'notice';

/** Entries in a row that belong together. */
export type Group = readonly [Entry, ...Entry[]];

/** `isOne`: whether an entry belongs to the group before it. */
export const groupAdjacent = (
  entries: readonly Entry[],
  isOne: (entry: Entry, group: { readonly first: Entry; readonly last: Entry }) => boolean,
): readonly Group[] => {
  const groups: [Entry, ...Entry[]][] = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    if (group && isOne(entry, { first: group[0], last: group.at(-1) ?? group[0] })) group.push(entry);
    else groups.push([entry]);
  }
  return groups;
};

/** An entry that is a text. */
export const textEntry = <K extends TextKind>(
  kind: K,
  source: SourceRecord,
  text: string,
  native?: unknown,
): Extract<Entry, { kind: K }> =>
  ({
    kind,
    source,
    text,
    tokens: estimateTokens(text),
    ...present({ native }),
  }) as Extract<Entry, { kind: K }>;

/** Text that came into the window with these entries, before the next answer gives the exact size. */
export const growthOf = (entries: readonly Entry[]): readonly Fact[] => {
  const tokens = tokensOf(entries.filter(({ kind }) => GROWING.includes(kind)));
  return tokens === 0 ? [] : [{ type: 'growth', tokens }];
};

/** An answer comes with its own count, and a compaction says what it leaves. */
const GROWING: readonly Entry['kind'][] = ['prompt', 'context', 'result'];

/** A call of a tool or its result, from a record. */
export type ToolEvent =
  | (GivenCall & { readonly kind: 'call' })
  | (GivenCall & GivenResult & { readonly kind: 'result' })
  /** both in one record, which may be written more than once */
  | (GivenCall & GivenResult & { readonly kind: 'call-with-result' });

interface GivenCall {
  /** links the result to its call */
  readonly id: string;
  /** of the result's tool, when its call may not have been seen */
  readonly name?: string | undefined;
  readonly input?: unknown;
}

interface GivenResult {
  readonly output: unknown;
  /** when it was written, if not at the time of the whole record */
  readonly at?: Millis | undefined;
  /** the agent says that the tool failed, or that the user did not allow it */
  readonly isError?: boolean;
  /** the user's answers, where the tool has asked for them */
  readonly answers?: readonly Answered[] | undefined;
}

/** What an agent's tools do, by their names. */
export interface Tools {
  /** the argument with the file that a tool reads */
  readonly reads: Readonly<Record<string, string>>;
  /** the argument with the file that a tool writes, changes or removes */
  readonly edits: Readonly<Record<string, string>>;
  /** the argument with the shell command that a tool runs */
  readonly runs: Readonly<Record<string, string>>;
  /** the change of the plan that a call makes */
  readonly plan: (name: string, input: JsonRecord) => PlanChange | undefined;
  /** files of a call whose arguments do not name them one by one */
  readonly files?: (name: string, input: unknown) => readonly TouchedFile[];
  /** what a call asks the user; none for other tools */
  readonly questions?: (name: string, input: JsonRecord) => readonly Question[];
  /** the calls within a call; undefined for a tool that calls no others */
  readonly within?: (name: string, input: unknown) => CallsWithin | undefined;
}

/** Calls of tools within a call. */
export interface CallsWithin {
  readonly calls: readonly InnerCall[];
  /** false where there may be more */
  readonly isWhole: boolean;
}

export interface InnerCall {
  readonly name: string;
  readonly input: unknown;
}

/** A call or a result of a tool, as an entry; both for a record that holds both. */
export const toolEntries = (
  event: ToolEvent,
  source: SourceRecord,
  tools: Tools,
  native?: unknown,
): readonly (Call | Result)[] => {
  switch (event.kind) {
    case 'call':
      return [callEntry(event, source, tools, native)];
    case 'result':
      return [resultEntry(event, source, native)];
    case 'call-with-result':
      return [callEntry(event, source, tools, native), resultEntry(event, source, native)];
  }
};

const LONGEST_COMMAND = 100_000; // characters

const callEntry = (
  { id, name = 'tool', input }: Extract<ToolEvent, { kind: 'call' | 'call-with-result' }>,
  source: SourceRecord,
  tools: Tools,
  native: unknown,
): Call => {
  const within = tools.within?.(name, input);
  const deeds = (within?.calls ?? [{ name, input }]).map((each) => deedOf(each, tools));
  const commands = deeds.flatMap(({ command }) => command ?? []);
  const notUnderstood = deeds.flatMap((each) => (each.isUnderstood ? [] : [each.name]));
  if (within?.isWhole === false) notUnderstood.push(name);
  const questions = isRecord(input) ? (tools.questions?.(name, input) ?? []) : [];
  const plan = deeds.findLast((each) => each.plan !== undefined)?.plan;
  return {
    kind: 'call',
    source,
    callId: id,
    name,
    input,
    files: deeds.flatMap(({ files }) => files),
    tokens: estimateTokens(typeof input === 'string' ? input : JSON.stringify(input ?? {})),
    ...(commands.length > 0 ? { commands } : {}),
    ...(notUnderstood.length > 0 ? { notUnderstood } : {}),
    ...(questions.length > 0 ? { questions } : {}),
    ...present({ plan, native }),
  };
};

/** What one tool does. */
interface Deed {
  readonly name: string;
  readonly files: readonly TouchedFile[];
  readonly command?: string;
  readonly plan?: PlanChange;
  readonly isUnderstood: boolean;
}

const deedOf = ({ name, input }: InnerCall, tools: Tools): Deed => {
  const given = isRecord(input) ? input : {};
  const command = commandIn(given, tools.runs[name])?.slice(0, LONGEST_COMMAND);
  const plan = tools.plan(name, given);
  const files = filesIn(name, input, given, tools);
  const isSeen = files.length > 0 || command !== undefined || plan !== undefined;
  return { name, files, ...present({ command, plan }), isUnderstood: isSeen || isHarmless(name) };
};

// Tools of the agents that neither change a file nor run a command themselves. What is not here, and not read as one that does (an MCP server's
// tools, those of newer versions), could have done either.

const HARMLESS = new Set(
  [
    // look at files and at the web
    'read readfile readmanyfiles readmediafile notebookread view viewimage zoomimage showfile glob grep grepsearch searchfilecontent rg ls list',
    'listdirectory listdir lsp codesearch codebaseinvestigator webfetch websearch googlewebsearch webrun fetch fetchurl searchweb',
    // plans and goals
    'todowrite todoread todolist settodolist updatetodo writetodos updateplan taskcreate taskupdate taskget tasklist trackercreatetask',
    'trackerupdatetask trackergettask trackerlisttasks trackeradddependency trackervisualize getgoal creategoal updategoal reportintent',
    'updatetopic enterplanmode exitplanmode planenter planexit completetask taskcomplete',
    // other agents, whose work is in conversations of their own
    'task agent invokeagent backgroundagent spawnagent sendmessage sendinput waitagent closeagent resumeagent listagents readagent',
    'delegatetoagent createsubsession clihelp generalist',
    // commands that run already
    'wait writestdin bashoutput killshell killbash taskoutput taskstop writebash readbash stopbash listbash writepowershell readpowershell',
    'stoppowershell listpowershell readthreadterminal',
    // the user, the session, the agent itself
    'askuserquestion askuser requestuserinput question think structuredoutput skill activateskill slashcommand savememory storememory toolsearch',
    'getinternaldocs fetchcopilotclidocumentation listmcpresources listmcpresourcetemplates readmcpresource readmcpresourcetool croncreate',
    'cronlist crondelete schedulewakeup loopwakeup invalid',
  ].flatMap((line) => line.split(' ')),
);

/** A tool by this name, in any of the agents, neither changes a file nor runs a command itself. */
const isHarmless = (tool: string): boolean => HARMLESS.has(tool.replaceAll('_', '').toLowerCase());

// A command is a text, or a program with its arguments.
const commandIn = (input: JsonRecord, argument: string | undefined): string | undefined => {
  if (argument === undefined) return undefined;
  const words = getList(input, argument).filter((word) => typeof word === 'string');
  return getText(input, argument) ?? (words.length > 0 ? words.join(' ') : undefined);
};

const filesIn = (name: string, input: unknown, given: JsonRecord, tools: Tools): readonly TouchedFile[] => {
  const named = (['reads', 'edits'] as const).flatMap((list): readonly TouchedFile[] => {
    const argument = tools[list][name];
    const path = argument === undefined ? undefined : getText(given, argument);
    return path ? [{ path, access: list === 'reads' ? 'read' : 'edit' }] : [];
  });
  return [...named, ...(tools.files?.(name, input) ?? [])];
};

const resultEntry = (
  {
    id,
    name,
    output,
    at,
    answers,
    isError = false,
  }: Extract<ToolEvent, { kind: 'result' | 'call-with-result' }>,
  source: SourceRecord,
  native: unknown,
): Result => ({
  kind: 'result',
  source: at === undefined ? source : { ...source, at },
  callId: id,
  output: outputText(output),
  tokens: outputTokens(output),
  ...present({ name }),
  ...(isError ? { isError } : {}),
  ...present({ answers, native }),
});

const STATUS: Readonly<Record<string, PlanItem['status']>> = {
  pending: 'open',
  open: 'open',
  todo: 'open',
  blocked: 'open',
  in_progress: 'active',
  active: 'active',
  completed: 'done',
  done: 'done',
  closed: 'done',
  cancelled: 'cancelled',
  canceled: 'cancelled',
  deleted: 'cancelled',
};

export const planStatus = (status: string | undefined): PlanItem['status'] => STATUS[status ?? ''] ?? 'open';

/** A list of steps with their status, as todo tools take it. `text` names the field that holds the words. */
export const planOf = (items: readonly unknown[], text: string): PlanChange => ({
  kind: 'whole',
  items: items.filter(isRecord).map((item) => {
    const id = getText(item, 'id');
    return {
      ...present({ id }),
      text: getText(item, text) ?? '',
      status: planStatus(getText(item, 'status')),
    };
  }),
});

/** The same entries as repeated by a compaction. */
export const asCopies = (entries: readonly Entry[]): readonly Entry[] =>
  entries.map((entry) => ({ ...entry, isCopy: true }));

/** One record and its entries. */
export const recordStep = (source: SourceRecord, entries: readonly Entry[]): Step => ({
  kind: 'record',
  source,
  entries,
});

/** Whether a session with this window would be one that the agent can be resumed with: it has a message, a call or a summary. */
export const canGoOn = (window: readonly Entry[]): boolean =>
  window.some(({ kind }) => kind === 'prompt' || kind === 'answer' || kind === 'summary' || kind === 'call');
