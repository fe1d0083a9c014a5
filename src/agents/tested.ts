import { parseRecord, getRecord, getText } from '../core/json.js';
import { toOneLine } from '../core/text.js';
import type { Agent } from './agent.js';

// Which versions of an agent were tried, and which version runs: its own records say so, and it is not started a second time for it.

/** Whether this version is known to be read right; who has more to go by (a certificate of the user's own) says so here. */
export const isTested = ({ home }: Pick<Agent, 'home'>, version: string): boolean =>
  home?.played.includes(version) ?? false;

/** The newest version that was tried, where this one is newer; an older one, or one that cannot be compared, is nothing to speak of. */
export const newestTestedBefore = (agent: Pick<Agent, 'home'>, version: string): string | undefined => {
  const tested = agent.home?.played.toSorted((a, b) => compared(b, a))[0];
  if (tested === undefined || isTested(agent, version)) return undefined;
  return compared(version, tested) > 0 ? tested : undefined;
};

const numbersOf = (version: string): readonly number[] =>
  (version.match(/\d+/g) ?? []).slice(0, 3).map(Number);

const compared = (a: string, b: string): number => {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const at = [0, 1, 2].find((index) => (left[index] ?? 0) !== (right[index] ?? 0));
  return at === undefined ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
};

/** Whether a version came before another; by its three numbers, so that a preview counts as what it is a preview of. */
export const isBefore = (version: string, other: string): boolean => compared(version, other) < 0;

const MENTION = /"(?:cli_)?version":"(\d[\w.+-]{0,39})"/;

/**
 * The version that wrote this line of a session file: `version` of Claude's and Qwen's records (facts/claude.md §7), `cli_version` of
 * Codex's `session_meta`. What a conversation holds is deeper inside, or escaped.
 */
export const parseRecordVersion = (line: string): string | undefined => {
  if (!MENTION.test(line)) return undefined;
  const record = parseRecord(line);
  const meta = record?.['type'] === 'session_meta' ? getRecord(record, 'payload') : undefined;
  const said = meta ? getText(meta, 'cli_version') : getText(record, 'version');
  return said !== undefined && MENTION.test(`"version":"${said}"`) ? said : undefined;
};

/**
 * An agent's own word on its state, in OSC 7501: `state=blocked:app=claude-code:kind=permission:msg=BASE64`. Codex sends it unasked
 * from 0.163 on, Claude Code from 2.1.330 on to a terminal that answered its question (facts/codex.md §5,
 * facts/updates-2026-11-22.md).
 */
export interface AgentState {
  /** `done` and `error` are the ends of a turn: the agent is at rest */
  readonly state: 'idle' | 'working' | 'done' | 'error' | 'blocked' | 'clear';
  /** `codex`, `claude-code`: another program in the same terminal may tell its own */
  readonly app?: string;
  /** what it is blocked by, as `permission` */
  readonly kind?: string;
  /** what it asks of the user, in one line: `approve Bash: touch zz.txt` */
  readonly message?: string;
}

const MAX_MESSAGE = 200; // characters; a footer shows fewer
const states: readonly string[] = ['idle', 'working', 'done', 'error', 'blocked', 'clear'];

const isState = (text: string | undefined): text is AgentState['state'] =>
  text !== undefined && states.includes(text);

/** Of what follows `OSC 7501;`. Undefined for anything that names no state, as the question `?` does. */
export const parseAgentState = (text: string | undefined): AgentState | undefined => {
  const fields = new Map(
    (text ?? '')
      .split(':')
      .map((field): readonly [string, string] => {
        const [key = '', ...rest] = field.split('=');
        return [key, rest.join('=')]; // base64 may end in =
      })
      .toReversed(), // of a field that is there twice the first one counts
  );
  const state = fields.get('state');
  if (!isState(state)) return undefined;
  const [app, kind] = [fields.get('app'), fields.get('kind')];
  const message = toOneLine(Buffer.from(fields.get('msg') ?? '', 'base64').toString('utf8'), MAX_MESSAGE);
  return {
    state,
    ...(app ? { app: toOneLine(app, MAX_MESSAGE) } : {}),
    ...(kind ? { kind: toOneLine(kind, MAX_MESSAGE) } : {}),
    ...(message ? { message } : {}),
  };
};
