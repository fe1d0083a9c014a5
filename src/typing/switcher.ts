import type { CompactRecipe, Switching } from '../agents/agent.js';
import type { Result } from '../core/compaction/requests.js';
import { present } from '../core/present.js';
import { shownId } from '../core/shown-conversation.js';
import { makeTailReader } from '../storage/tail.js';
import {
  actWhenSafe,
  comesToRest,
  makeLane,
  refused,
  typeAndConfirm,
  type ActionContext,
  type ActionWait,
} from './action.js';
import type { TypistPort, TypeRequest } from './typing-steps.js';

// Has the running agent go on with another session, by its own command: confirmed by the agent's id of the conversation.

export type SwitchResult = Result<'switch'>;

/** Types the command at a safe moment. `name` is the id of a session, or the name of a checkpoint. Never rejects. */
export type SwitchTo = (name: string, wait: ActionWait) => Promise<SwitchResult>;

const CONFIRM_MS = 20_000; // the agents take up to 200 ms; a busy machine takes longer

/** Why nothing is typed into an agent without `switching`. */
export const UNSUPPORTED = 'ctxwrap does not know how to tell this agent';

export const makeSwitcher = (context: ActionContext): SwitchTo => {
  const { session, publisher, take, ended } = context;
  const { newSessions, recipe } = session.agent;
  const lane = makeLane(ended, 'another change of the session is already waiting');
  return (name, given) =>
    lane<SwitchResult>(given, async (wait) => {
      const [switching, typing] = [newSessions?.switching, recipe?.(session.env)];
      if (!typing || !switching) return refused(UNSUPPORTED);
      const command = { recipe: typing, switching, name, signal: ended };
      const audit = (result: SwitchResult | undefined): void => publisher?.endSwitch(name, result);
      const act = () => typeSwitch(context, command);
      const result = await actWhenSafe<SwitchResult>(context, { act, audit }, wait);
      // the window is as full as before: without this it would be compacted again at once
      if (result.kind === 'switched') take({ type: 'postpone' });
      return result;
    });
};

/** Has the agent go back to the whole conversation, which is in the session of this name, or in a checkpoint. */
export const makeGoBack =
  ({ session, take }: Pick<ActionContext, 'session' | 'take'>, switchTo: SwitchTo): SwitchTo =>
  async (name, wait) => {
    take({ type: 'going-back', sessionId: name });
    const result = await switchTo(name, wait);
    const isSame = session.agent.newSessions?.switching?.restores !== undefined;
    if (result.kind === 'switched') take({ type: 'undone', ...(isSame ? {} : { isOtherSession: true }) });
    return result;
  };

interface SwitchCommand {
  readonly recipe: CompactRecipe;
  readonly switching: Switching;
  readonly name: string;
  readonly signal: AbortSignal;
}

const typeSwitch = async (
  context: ActionContext,
  command: SwitchCommand,
): Promise<SwitchResult | undefined> => {
  const { flow } = context;
  const { name, signal } = command;
  const hasId = (): boolean => shownId(flow().session.conversation) === name;
  const isThere = (await watchRestored(context, command)) ?? hasId;
  const isConfirmed = (): Promise<boolean> => comesToRest(flow, isThere, { withinMs: CONFIRM_MS, signal });
  return typeAndConfirm<SwitchResult>(context, {
    request: commandRequest(withEnterTime(context, command), command),
    confirm: async () => ((await isConfirmed()) ? { kind: 'switched' } : undefined),
    reason: 'the agent does not show that it has switched',
  });
};

/** An agent whose sessions are not in the files that it has open is followed by what it writes after Enter. */
const withEnterTime = (
  { port, onEntered }: Pick<ActionContext, 'port' | 'onEntered'>,
  { recipe, switching: { typing } }: SwitchCommand,
): TypistPort => {
  const submit = Buffer.from(typing?.submit ?? recipe.submit);
  return {
    ...port,
    write: (bytes) => {
      if (submit.equals(bytes)) onEntered(Date.now());
      port.write(bytes);
    },
  };
};

const commandRequest = (
  port: TypistPort,
  { recipe, switching: { command, listedAs, typing }, name, signal }: SwitchCommand,
): TypeRequest => {
  const { isListed: _, ...rest } = recipe;
  const own = { command: command(name), takesFocus: false, ...present({ listedAs: listedAs?.(name) }) };
  return { recipe: { ...rest, ...typing, ...own }, isQueued: false, mayStash: false, port, signal };
};

const TAIL_BYTES = 64 * 1024;

/** Whether the agent has written since now that it has taken another conversation; undefined for an agent whose id tells it. */
const watchRestored = async (
  { sessionFile }: Pick<ActionContext, 'sessionFile'>,
  { switching: { restores } }: SwitchCommand,
): Promise<(() => Promise<boolean>) | undefined> => {
  const path = sessionFile();
  if (!restores || path === undefined) return undefined;
  let isNew = false;
  let isFound = false;
  const tail = makeTailReader({
    path,
    onLine: (line) => {
      isFound ||= isNew && restores(line);
    },
    onRestart: () => undefined,
    isEnough: () => true,
    lookBack: { firstBytes: TAIL_BYTES, maxBytes: TAIL_BYTES },
  });
  const read = (): Promise<boolean> => tail.readNew().catch(() => false);
  await read();
  isNew = true;
  return async () => {
    await read();
    return isFound;
  };
};
