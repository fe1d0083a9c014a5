import { oneLine } from '../core/one-line.js';

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
  const message = oneLine(Buffer.from(fields.get('msg') ?? '', 'base64').toString('utf8'), MAX_MESSAGE);
  return {
    state,
    ...(app ? { app: oneLine(app, MAX_MESSAGE) } : {}),
    ...(kind ? { kind: oneLine(kind, MAX_MESSAGE) } : {}),
    ...(message ? { message } : {}),
  };
};
