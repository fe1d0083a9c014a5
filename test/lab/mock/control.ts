// What the next answers of the made-up model are: one language for the four APIs.
import { countAt, isRecord, recordAt, textAt } from '../../../src/core/json.js';

/** How an answer goes wrong. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number }
  /** the question does not fit into the model's window */
  | { readonly kind: 'too-long' }
  /** the connection ends in the middle of the answer */
  | { readonly kind: 'drop' };

export interface Answer {
  readonly text: string;
  /** what the question took, as the model counts it; 0 for a summary: what the last turn took */
  readonly usedTokens: number;
  readonly outputTokens: number;
  /** in how many pieces the text comes, and the pause between two, in milliseconds */
  readonly pieces: number;
  readonly pieceMs: number;
  /** before the first byte */
  readonly waitMs: number;
  /** a shell command that the agent is told to run, one for which it has to ask */
  readonly command?: string | undefined;
  readonly fault?: Fault | undefined;
}

export interface Control {
  readonly turn: Answer;
  /** of a question for a summary: an agent that compacts */
  readonly summary: Answer;
  /** what is different in the next turns, one each */
  readonly next: readonly Partial<Answer>[];
}

const QUICK = { outputTokens: 20, pieces: 1, pieceMs: 0, waitMs: 0 } as const;

// The tags are those that Claude, Gemini and Qwen look for; Codex takes any text.
const SUMMARY = `<analysis>The user said hello.</analysis>
<summary>1. Primary Request: to say hello.</summary>
<state_snapshot><overall_goal>To say hello.</overall_goal></state_snapshot>`;

export const firstControl: Control = {
  turn: { ...QUICK, text: 'Hello from the model.', usedTokens: 5_000 },
  summary: { ...QUICK, text: SUMMARY, usedTokens: 0 },
  next: [],
};

/** The control with what a message changes of it; throws on what it does not know. */
export const withChange = (control: Control, change: unknown): Control => {
  if (!isRecord(change)) throw new Error('a change is an object');
  const known = ['turn', 'summary', 'next', 'reset'];
  const strange = Object.keys(change).find((key) => !known.includes(key));
  if (strange !== undefined) throw new Error(`unknown: ${strange}`);
  const from = change['reset'] === true ? firstControl : control;
  const next: unknown = change['next'] ?? [];
  if (!Array.isArray(next)) throw new Error('next is a list');
  return {
    turn: { ...from.turn, ...answerIn(recordAt(change, 'turn')) },
    summary: { ...from.summary, ...answerIn(recordAt(change, 'summary')) },
    next: [...from.next, ...next.map((each: unknown) => answerIn(each))],
  };
};

const counts = ['usedTokens', 'outputTokens', 'pieces', 'pieceMs', 'waitMs'] as const;

const answerIn = (found: unknown): Partial<Answer> => {
  if (found === undefined) return {};
  if (!isRecord(found)) throw new Error('an answer is an object');
  const known: readonly string[] = [...counts, 'text', 'command', 'fault'];
  const strange = Object.keys(found).find((key) => !known.includes(key));
  if (strange !== undefined) throw new Error(`unknown: ${strange}`);
  const numbers = counts.flatMap((key) => {
    const count = countAt(found, key);
    return count === undefined ? [] : [[key, count]];
  });
  const text = textAt(found, 'text');
  return {
    ...(Object.fromEntries(numbers) as Partial<Answer>),
    ...(text === undefined ? {} : { text }),
    // null takes back what was said before
    ...('command' in found ? { command: textAt(found, 'command') } : {}),
    ...('fault' in found ? { fault: faultIn(found['fault']) } : {}),
  };
};

const faultIn = (found: unknown): Fault | undefined => {
  if (found === null || found === undefined) return undefined;
  const kind = textAt(found, 'kind');
  const status = countAt(found, 'status');
  if (kind === 'status' && status !== undefined) return { kind, status };
  if (kind === 'too-long' || kind === 'drop') return { kind };
  throw new Error('a fault is { kind: "status", status }, { kind: "too-long" } or { kind: "drop" }');
};
