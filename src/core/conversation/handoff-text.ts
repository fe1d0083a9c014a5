import { groupDigits } from '../ladder.js';
import { notUnderstoodText } from './conversation-evidence.js';
import {
  handoffSections,
  type Handoff,
  type HandoffCommand,
  type HandoffContext,
  type HandoffRequest,
  type HandoffSection,
  type HandoffText,
} from './handoff.js';

// A handoff as Markdown, its size, and what to leave out when it is too long. Words of the user or of a model stand in quotes or in code, so
// that they cannot be taken for the document's own.

/** Above this, in characters (about a thousand tokens), a handoff takes more of the next window than it is worth. */
export const RECOMMENDED_LENGTH = 4_000;

interface Part {
  readonly section?: HandoffSection;
  readonly lines: readonly string[];
}

export const handoffMarkdown = (handoff: Handoff): string => markdownOf(handoffParts(handoff));

const markdownOf = (parts: readonly Part[]): string =>
  `${parts
    .filter(({ lines }) => lines.length > 0)
    .map(({ lines }) => lines.join('\n'))
    .join('\n\n')}\n`;

const handoffParts = (handoff: Handoff): readonly Part[] => [
  { lines: headLines(handoff) },
  { section: 'requests', lines: requestLines(handoff) },
  { section: 'remaining', lines: remainingLines(handoff) },
  { section: 'completed', lines: completedLines(handoff) },
  { section: 'context', lines: contextLines(handoff) },
  { section: 'commands', lines: commandLines(handoff.context.commands) },
  { lines: notUnderstoodLines(handoff.context.notUnderstood) },
  { section: 'summary', lines: summaryLines(handoff.summary) },
];

const headLines = ({ runtime, agentId, cwd, createdAt, reason, git }: Handoff): readonly string[] => [
  `# Handoff from ${runtime}`,
  '',
  ...(agentId === undefined ? [] : [`- session: ${codeOf(agentId)}`]),
  ...(cwd === undefined ? [] : [`- folder: ${codeOf(cwd)}`]),
  `- written: ${createdAt}, ${reasonWords[reason]}`,
  ...(git === undefined ? [] : [`- git: ${gitWords(git)}`]),
];

const reasonWords: Readonly<Record<Handoff['reason'], string>> = {
  threshold_critical: 'the window was at hard',
  task_complete: 'everything in the plan was done',
  error: 'compacting had failed',
  requested: 'on request',
};

const gitWords = ({ head, changed, isCut }: NonNullable<Handoff['git']>): string =>
  [
    head === undefined ? 'no commit yet' : `commit ${head.slice(0, 12)}`,
    changed === 0
      ? 'nothing changed'
      : `${changed}${isCut ? ' or more' : ''} changed file${changed === 1 ? '' : 's'}`,
  ].join(', ');

const requestLines = ({ requests, omitted }: Handoff): readonly string[] =>
  requests.length === 0
    ? []
    : [
        `## Last requests of the user, verbatim${moreOf(omitted?.requests)}`,
        ...requests.flatMap((each) => ['', ...requestWords(each), ...quoted(each)]),
      ];

const requestWords = ({ at, isUnanswered }: HandoffRequest): readonly string[] => {
  const words = [...(at === undefined ? [] : [at]), ...(isUnanswered ? ['not answered'] : [])];
  return words.length === 0 ? [] : [`${words.join(', ')}:`, ''];
};

/** Lines of a quotation, with what is left out at its end. */
const quoted = ({ text, cut }: HandoffText): readonly string[] => [
  ...text.split('\n').map((line) => (line === '' ? '>' : `> ${line}`)),
  ...(cut === undefined ? [] : ['', `(${groupDigits(cut)} more characters in the session file)`]),
];

const remainingLines = ({ remaining, omitted }: Handoff): readonly string[] =>
  remaining.length === 0
    ? []
    : [
        `## Remaining, from the agent's plan${moreOf(omitted?.plan)}`,
        '',
        ...remaining.map(
          ({ description, priority }) => `- [ ] ${description}${priority === 'high' ? ' (begun)' : ''}`,
        ),
      ];

const completedLines = ({ completed, omitted }: Handoff): readonly string[] => {
  const parts = completed.filter(({ file }) => file === undefined);
  const files = completed.flatMap(({ file, notes }) => (file === undefined ? [] : [{ file, notes }]));
  return [
    ...(parts.length === 0
      ? []
      : ["## Done, by the agent's plan", '', ...parts.map(({ notes }) => `- [x] ${notes}`)]),
    ...(parts.length > 0 && files.length > 0 ? [''] : []),
    ...(files.length === 0
      ? []
      : [
          `## Files changed (whether they are finished is not on record)${moreOf(omitted?.files)}`,
          '',
          ...files.map(({ file, notes }) => `- ${codeOf(file)}: ${notes}`),
        ]),
  ];
};

const moreOf = (count: number | undefined): string =>
  count === undefined ? '' : `; ${count} more are not listed`;

/** What the requests and the summary repeat is not said twice. */
const contextLines = ({ context, summary, requests }: Handoff): readonly string[] => {
  const isRepeated = summary !== undefined && summary.cut === undefined;
  const requestTexts = requests.map(({ text }) => text.replace(/\s+/g, ' ')).join('\n');
  const fromSummary = (items: readonly string[]): readonly string[] => (isRepeated ? [] : items);
  const lists = [
    [
      'Earlier demands of the user, verbatim',
      context.constraints.filter((each) => !requestTexts.includes(each)),
    ],
    ['Decisions, from the last summary', fromSummary(context.decisions)],
    ['Patterns, from the last summary', fromSummary(context.patterns)],
    ['Issues, from the last summary', fromSummary(context.issues)],
  ] as const;
  return lists
    .filter(([, items]) => items.length > 0)
    .flatMap(([name, items], index) => [
      ...(index > 0 ? [''] : []),
      `## ${name}`,
      '',
      ...items.map((item) => `> - ${item}`),
    ]);
};

const commandLines = (commands: readonly HandoffCommand[]): readonly string[] =>
  commands.length === 0
    ? []
    : [
        '## Last commands',
        '',
        ...commands.map(
          ({ command, outcome }) => `- ${codeOf(command)}${outcome === undefined ? '' : ': failed'}`,
        ),
      ];

/** Stays whatever is left out: without it the lists above would seem to be all. */
const notUnderstoodLines = (tools: HandoffContext['notUnderstood'] = []): readonly string[] => {
  const text = notUnderstoodText(tools);
  return text === undefined ? [] : [`Not looked at for this handoff: ${codeOf(text)}`];
};

const summaryLines = (summary: HandoffText | undefined): readonly string[] =>
  summary === undefined
    ? []
    : [`## Last summary${summary.at === undefined ? '' : `, ${summary.at}`}`, '', ...quoted(summary)];

/** One line of code, in more backticks than it holds in a row. */
const codeOf = (text: string): string => {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return longest > 0 ? `${fence} ${text} ${fence}` : `${fence}${text}${fence}`;
};

// Its size.

export interface HandoffSize {
  /** of the Markdown */
  readonly characters: number;
  readonly recommended: number;
  /** the largest first */
  readonly sections: readonly { readonly section: HandoffSection; readonly characters: number }[];
  /** what to leave out so that it is as short as recommended, if it is too long */
  readonly cut: readonly HandoffSection[];
  /** how many of the last requests to keep, if fewer than there are */
  readonly requests?: number;
  /** characters that are left then */
  readonly left: number;
}

export const sizeOf = (handoff: Handoff): HandoffSize => {
  const sections = handoffParts(handoff)
    .flatMap(({ section, lines }) =>
      section === undefined || lines.length === 0 ? [] : [{ section, characters: lines.join('\n').length }],
    )
    .toSorted((a, b) => b.characters - a.characters);
  const characters = handoffMarkdown(handoff).length;
  return { characters, recommended: RECOMMENDED_LENGTH, sections, ...cutOf(handoff) };
};

/**
 * Leaves out whatever shortens the document most, again and again; then takes back what it did not need to leave out. What remains goes last,
 * and one request stays: nothing else says what is wanted.
 */
const cutOf = (handoff: Handoff): Pick<HandoffSize, 'cut' | 'requests' | 'left'> => {
  const all = handoff.requests.length;
  let cut: readonly HandoffSection[] = [];
  let kept = all;
  const isShort = (without: readonly HandoffSection[], requests: number): boolean =>
    lengthWithout(handoff, without, requests) <= RECOMMENDED_LENGTH;
  const optional = handoffSections.filter((section) => section !== 'requests' && section !== 'remaining');
  while (!isShort(cut, kept)) {
    const steps = [
      ...optional.filter((each) => !cut.includes(each)).map((each) => ({ cut: [...cut, each], kept })),
      ...(kept > 1 ? [{ cut, kept: 1 }] : []),
    ].map((step) => ({ ...step, left: lengthWithout(handoff, step.cut, step.kept) }));
    const [best] = steps.toSorted((one, other) => one.left - other.left);
    if (!best) break;
    ({ cut, kept } = best);
  }
  if (!isShort(cut, kept)) cut = [...cut, 'remaining'];
  for (const section of cut) {
    const fewer = cut.filter((each) => each !== section);
    const isNeedless =
      isShort(fewer, kept) || lengthWithout(handoff, fewer, kept) <= lengthWithout(handoff, cut, kept);
    if (isNeedless) cut = fewer;
  }
  while (kept < all && isShort(cut, kept + 1)) kept += 1;
  return { cut, ...(kept < all ? { requests: kept } : {}), left: lengthWithout(handoff, cut, kept) };
};

/**
 * The length of the document that `--without` and `--requests` give. Without the summary its points are listed, and without a request the
 * demands in it: a part that is left out can make another one longer.
 */
const lengthWithout = (handoff: Handoff, cut: readonly HandoffSection[], kept: number): number => {
  const { requests, omitted = {} } = handoff;
  const unlisted = (omitted.requests ?? 0) + requests.length - kept; // the heading tells it
  const { summary, ...others } = handoff;
  const parts = handoffParts({
    ...others,
    ...(summary === undefined || cut.includes('summary') ? {} : { summary }),
    requests: kept === 0 ? [] : requests.slice(-kept),
    omitted: { ...omitted, ...(unlisted > 0 ? { requests: unlisted } : {}) },
  });
  return markdownOf(parts.filter(({ section }) => section === undefined || !cut.includes(section))).length;
};

/** What to say about a handoff that is too long; undefined for one that is not. */
export const sizeAdvice = (size: HandoffSize): string | undefined => {
  const { characters, recommended, sections, cut, requests, left } = size;
  if (characters <= recommended) return undefined;
  const largest = sections
    .slice(0, 3)
    .map(({ section, characters: count }) => `${section} ${groupDigits(count)}`)
    .join(', ');
  const options = [
    ...(cut.length > 0 ? [`--without ${cut.join(',')}`] : []),
    ...(requests === undefined ? [] : [`--requests ${requests}`]),
  ].join(' ');
  return [
    `the handoff has ${groupDigits(characters)} characters, more than the recommended ${groupDigits(recommended)}`,
    `the largest parts are ${largest}`,
    `${options} leaves ${groupDigits(left)}`,
  ].join('; ');
};

// As a draft for another agent.

const DRAFT_BEGIN =
  'Please continue the work of an earlier session. What is on record about it follows; quoted text is what was said then.';
const DRAFT_END = 'Begin with what remains, and check the state of the files first.';

/**
 * What is put into the prompt of the next agent. It begins and ends with words of its own: what stands first or last in a prompt can be a
 * command, open a list of files, or choose another mode.
 */
export const handoffDraft = (handoff: Handoff): string =>
  [DRAFT_BEGIN, '', handoffMarkdown(handoff).trimEnd(), '', DRAFT_END].join('\n');
