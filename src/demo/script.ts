import type { Key } from './keys.js';

// The agent's answers, and how a scripted user types and waits. Nothing here is computed by a model.

const kilo = (tokens: number): string => `${Math.round(tokens / 1000)}k`;

export const windowTokens = 200_000;

/** System prompt and tools, before the first prompt. */
export const firstTokens = 12_180;

/** Tokens a turn adds: 151k is past warn, 169k past auto and 178k past hard of a 200k window. */
const gains = [22_310, 23_940, 24_120, 23_770, 24_080, 20_650, 18_240, 8_920] as const;
const usualGain = 18_000;

export const turnTokens = (turn: number): number => gains[turn] ?? usualGain;

/** A tool call: it adds what the tool has returned to the window. */
export interface ToolCall {
  readonly text: string;
  readonly result: string;
  readonly tokens: number;
  readonly use: ToolUse;
}

/** As the session log has it. */
export type ToolUse =
  | { readonly name: 'read' | 'edit'; readonly input: { readonly path: string } }
  | { readonly name: 'run'; readonly input: { readonly command: string } }
  | { readonly name: 'grep'; readonly input: { readonly pattern: string } };

/** A turn that is planned ahead, whatever the prompt was. */
export interface PlannedTurn {
  readonly calls: readonly ToolCall[];
  readonly answer: string;
  /** tokens of the answer */
  readonly tokens: number;
}

/** What a compaction leaves: the first tokens and a summary. */
export const compactedTokens = (usedTokens: number): number =>
  Math.min(usedTokens, firstTokens + Math.round(usedTokens / 100));

/** The first turn after a compaction is short, so that the small number is visible before it grows. */
export const gainAfterCompaction = 2_400;

const answers = [
  'I am a simulator of a coding agent: I stream text, show a spinner and ask for permission, but no model is behind me and nothing leaves this machine. The row at the bottom is not mine. It belongs to ctxwrap, which runs me in a terminal of its own.',
  'Each of my turns adds some twenty thousand tokens to a window of 200k, far more than a real turn. I write the numbers to a session log, the way real agents do, and the footer reads them from there and not from this text.',
  'My output scrolls into the history of your terminal as if I ran alone: scroll up and you find every line once. Keys reach me unchanged, and your cursor is where I put it.',
  'The bar has four tiers: safe, then warn, then auto, where a quiet moment is a good one to compact, and hard, close to the end of the window. You will see the colour change on the way.',
] as const;

/** The answer of the turn that passes this many tokens: the boundaries of a 200k window. */
const milestones = {
  147_000:
    'This is the turn that passes warn. Nothing happens to me because of it: a warning is for the person in front of the terminal, and the conversation goes on as before.',
  167_000:
    'Past auto. A real agent would soon summarise the conversation on its own, often in the middle of a task. A quiet prompt between two tasks is the better moment.',
  177_000:
    'And this is hard: three thousand tokens below what is usable. It is time to type /compact, and I will keep a summary of all this.',
};

/** The answer of a turn that takes the window from `before` to `after` tokens. */
export const answerOf = (turn: number, before: number, after: number): string =>
  Object.entries(milestones).findLast(
    ([tokens]) => before < Number(tokens) && Number(tokens) <= after,
  )?.[1] ??
  answers[turn % answers.length] ??
  answers[0];

export const answerAfterDialog =
  'Thank you. A dialog like that one is the reason why keys are never typed blindly: Enter approves the command.';

/** As a bad summary, it keeps what was done and what the user said last; what was said before is forgotten. */
export const summaryText = (lastPrompt: string, done: readonly ToolCall[]): string =>
  [
    'The conversation so far, in short.',
    ...done.map(({ text, result }) => `- ${text}: ${result}`),
    `The user said last: ${lastPrompt}`,
  ].join('\n');

/** The prompt may be what the summary has forgotten. */
export const answerAfterCompaction = (prompt: string): string =>
  prompt.includes('left this out') ? answerAfterRecall : answerAfterSummary;

const answerAfterRecall = 'I had forgotten that: my summary left it out. Now it is in my window again.';

const answerAfterSummary =
  'The conversation is short again, and the footer knows it from the log of this turn. The mark at its end counts the compactions of the session.';

export const fullText = (usedTokens: number): string =>
  `Context is full: ${kilo(usedTokens)} of ${kilo(windowTokens)} used. Type /compact to make room.`;

export const compactedText = (preTokens: number, postTokens: number): string =>
  `Compacted ${kilo(preTokens)} → ${kilo(postTokens)}`;

export const helpText =
  'Type anything for an answer, `run <command>` for a permission dialog, /compact to make room, /quit to leave.';

/**
 * What the user waits for: the agent's prompt, a text in the prompt, its first compaction, or the end of what ctxwrap shows by
 * itself.
 */
export type Condition = 'idle' | 'drafted' | 'compacted' | 'over';

type IsMet = (what: Condition) => boolean;

/** The scripted user presses a key, waits for a time, or waits for something; if that takes too long, takes other steps first. */
export type Step =
  | Key
  | { readonly waitMs: number }
  | { readonly until: Condition }
  | { readonly until: Condition; readonly withinMs: number; readonly otherwise: readonly Step[] };

const typingMs = 45;

export const typePrompt = (text: string, keyMs = typingMs): readonly Step[] => [
  { name: 'ctrl-u' }, // removes text that somebody else has typed into the prompt
  ...Array.from(text).flatMap((char): readonly Step[] => [{ name: 'text', text: char }, { waitMs: keyMs }]),
  { waitMs: 350 },
  { name: 'enter' },
];

/** The scripted user's remaining steps. */
export interface ScriptedUser {
  readonly steps: readonly Step[];
  /** no step before this time; virtual milliseconds like every time of the demo */
  readonly notBefore: number;
  /** when the current step has waited for too long; undefined for a step that has not begun to wait, or waits without a limit */
  readonly giveUpAt?: number | undefined;
}

/**
 * Takes the next step that is due, with the key it presses; returns the same object when none is. One step at a time, so that the agent can
 * react.
 */
export const takeStep = (
  player: ScriptedUser,
  isMet: IsMet,
  now: number,
): { readonly player: ScriptedUser; readonly key?: Key } => {
  const { giveUpAt, notBefore } = player;
  const [step, ...steps] = player.steps;
  if (!step || now < notBefore) return { player };
  if (!isWaiting(step, isMet)) {
    if ('name' in step) return { player: { steps, notBefore }, key: step };
    return { player: { steps, notBefore: 'waitMs' in step ? now + step.waitMs : notBefore } };
  }
  if (!('withinMs' in step)) return { player };
  if (giveUpAt === undefined) return { player: { ...player, giveUpAt: now + step.withinMs } };
  return now < giveUpAt ? { player } : { player: { steps: [...step.otherwise, ...steps], notBefore } };
};

/** When the next step is due; undefined while the script waits without a limit or has ended. */
export const nextStepDeadline = (
  { steps: [step], notBefore, giveUpAt }: ScriptedUser,
  isMet: IsMet,
): number | undefined => (!step || isWaiting(step, isMet) ? giveUpAt : notBefore);

const isWaiting = (step: Step, isMet: IsMet): boolean => 'until' in step && !isMet(step.until);
