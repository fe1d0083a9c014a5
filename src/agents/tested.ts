import { parseRecord, getRecord, getText } from '../core/json.js';
import { toOneLine } from '../core/text.js';
import type { Agent } from './agent.js';

// Which versions of an agent were tested, and which version is running, read from its own records so that it is not started again to ask.

/** Whether this version was tested in the lab; the caller adds further evidence, such as the result of `ctxwrap verify`. */
export const isTested = ({ home }: Pick<Agent, 'home'>, version: string): boolean =>
  home?.played.includes(version) ?? false;

/** The newest tested version, when this one is newer; undefined for an older one or one that cannot be compared. */
export const newestTestedBefore = (agent: Pick<Agent, 'home'>, version: string): string | undefined => {
  const tested = agent.home?.played.toSorted((a, b) => compared(b, a))[0];
  if (tested === undefined || isTested(agent, version)) return undefined;
  return compared(version, tested) > 0 ? tested : undefined;
};

/** Which versions were tested, beside one that was not: `2.1.197 to 2.1.330 were`. Between them, each is named. */
export const testedVersions = ({ home }: Pick<Agent, 'home'>, version: string): string => {
  const tested = (home?.played ?? []).toSorted(compared);
  const [oldest = 'none', newest = oldest] = [tested[0], tested.at(-1)];
  if (tested.length < 2) return `${oldest} was`;
  if (isBefore(version, oldest) || isBefore(newest, version)) return `${oldest} to ${newest} were`;
  return `${tested.slice(0, -1).join(', ')} and ${newest} were`;
};

const numbersOf = (version: string): readonly number[] =>
  (version.match(/\d+/g) ?? []).slice(0, 3).map(Number);

const compared = (a: string, b: string): number => {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const at = [0, 1, 2].find((index) => (left[index] ?? 0) !== (right[index] ?? 0));
  return at === undefined ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
};

/** Whether a version came before another, by its three numbers; a preview counts as its release. */
export const isBefore = (version: string, other: string): boolean => compared(version, other) < 0;

const MENTION = /"(?:cli_)?version":"(\d[\w.+-]{0,39})"/;

/**
 * The version that wrote this line of a session file: `version` of Claude's and Qwen's records (docs/facts/claude.md#session-files),
 * `cli_version` of Codex's `session_meta`. The same words in a conversation are nested deeper, or escaped.
 */
export const parseRecordVersion = (line: string): string | undefined => {
  if (!MENTION.test(line)) return undefined;
  const record = parseRecord(line);
  const meta = record?.['type'] === 'session_meta' ? getRecord(record, 'payload') : undefined;
  const version = meta ? getText(meta, 'cli_version') : getText(record, 'version');
  return version !== undefined && MENTION.test(`"version":"${version}"`) ? version : undefined;
};

/**
 * An agent's state report in OSC 7501: `state=blocked:app=claude-code:kind=permission:msg=BASE64`. Codex sends it unasked from 0.163 on;
 * Claude Code from 2.1.330 on, to a terminal that answered its question (docs/facts/codex.md#state-reports, docs/facts/claude.md#state-reports).
 */
export interface AgentState {
  /** `done` and `error` end a turn: the agent is at rest */
  readonly state: 'idle' | 'working' | 'done' | 'error' | 'blocked' | 'clear';
  /** `codex`, `claude-code`; another program in the same terminal may report its own state */
  readonly app?: string;
  /** what blocks it, such as `permission` */
  readonly kind?: string;
  /** what it asks the user, in one line: `approve Bash: touch zz.txt` */
  readonly message?: string;
}

const MAX_MESSAGE = 200; // characters; the footer shows fewer
const states: readonly string[] = ['idle', 'working', 'done', 'error', 'blocked', 'clear'];

const isState = (text: string | undefined): text is AgentState['state'] =>
  text !== undefined && states.includes(text);

/** Parses the text after `OSC 7501;`. Undefined for anything without a state, such as the question `?`. */
export const parseAgentState = (text: string | undefined): AgentState | undefined => {
  const fields = new Map(
    (text ?? '')
      .split(':')
      .map((field): readonly [string, string] => {
        const [key = '', ...rest] = field.split('=');
        return [key, rest.join('=')]; // base64 may end with =
      })
      .toReversed(), // the first one wins when a field appears twice
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
