import { getCount, getList, getRecord, getText, isRecord, parseRecord, type JsonRecord } from '../json.js';
import { present } from '../present.js';
import { MIN_TOKENS } from '../format.js';
import { IMPOSSIBLE_TOKENS, type Millis, type WindowClaim, type WindowSource } from '../reading.js';
import type { Session } from '../session.js';
import { formatDay } from '../time.js';
import { agentWindow, currentModel } from '../window.js';

// What is kept of each model that agents ran with on this machine, so that the size of its window is known before a session says it.

/** A model that an agent ran with. */
export interface ModelUse {
  readonly agent: string;
  /** absent where the agent does not name it */
  readonly model?: string;
  /** when it was last used */
  readonly usedAt: Millis;
  /** the last window that was certain; absent if none ever was */
  readonly window?: UsedWindow;
}

/** A window that a session was certain of, with the version of the agent at that time. */
export interface UsedWindow {
  readonly windowTokens: number;
  readonly windowSource: CertainSource;
  readonly at: Millis;
  readonly agentVersion?: string;
}

/**
 * What the agent reported, what its numbers prove and what the table says are kept: `ctxwrap doctor` does not know for which model to ask
 * the table. A user's window is a wish, and a guess stays one.
 */
type CertainSource = Exclude<WindowSource, 'user' | 'remembered' | 'default'>;

const certainSources: readonly CertainSource[] = ['agent', 'derived', 'table'];

/**
 * The model of a session and its window; undefined while no number is known. `isLimited`: settings of this session make windows smaller, so
 * its window says nothing about others.
 */
export const modelUseOf = (session: Session, isLimited: boolean, now: Millis): ModelUse | undefined => {
  const { agent, windows, fused, agentVersion } = session;
  if (!fused) return undefined;
  const model = currentModel(session);
  const known = isLimited ? undefined : agentWindow(windows, model, fused.reading.usedTokens);
  const windowSource = certainSources.find((source) => source === known?.windowSource);
  const window =
    known && windowSource
      ? { windowTokens: known.windowTokens, windowSource, at: now, ...present({ agentVersion }) }
      : undefined;
  return { agent, usedAt: now, ...present({ model, window }) };
};

const MOST_USES = 100; // models; the one that was not used for longest is forgotten

/** The list, the last used first, with this use; what was known of the model's window is kept. */
export const addModelUse = (uses: readonly ModelUse[], use: ModelUse): readonly ModelUse[] => {
  const isSame = ({ agent, model }: ModelUse): boolean => agent === use.agent && model === use.model;
  const window = use.window ?? uses.find(isSame)?.window;
  return [{ ...use, ...present({ window }) }, ...uses.filter((each) => !isSame(each))].slice(0, MOST_USES);
};

/** The model that this agent ran with last. */
export const lastUseOf = (uses: readonly ModelUse[], name: string): ModelUse | undefined =>
  uses.find(({ agent }) => agent === name);

/** What is known of the windows of this agent's models, for a session of it. */
export const rememberedWindows = (uses: readonly ModelUse[], name: string): readonly WindowClaim[] =>
  uses.flatMap(({ agent, model, window }) =>
    agent === name && window
      ? [{ windowTokens: window.windowTokens, windowSource: 'remembered' as const, ...present({ model }) }]
      : [],
  );

/** `as claude 2.1.332 reported for claude-opus-4-8 on 2026-11-27`. */
export const windowOrigin = ({ agent, model }: ModelUse, window: UsedWindow): string => {
  const { windowSource, agentVersion, at } = window;
  const program = agentVersion === undefined ? agent : `${agent} ${agentVersion}`;
  const forModel = model === undefined ? '' : ` for ${model}`;
  return `${originTexts[windowSource](program)}${forModel} on ${formatDay(at)}`;
};

const originTexts: Readonly<Record<CertainSource, (program: string) => string>> = {
  agent: (program) => `as ${program} reported`,
  derived: (program) => `as derived from the numbers of ${program}`,
  table: (program) => `as the model table had it in a session of ${program}`,
};

// The file: `ctxwrap.models/1`. It may have been damaged, or be of another version.

const SCHEMA = 'ctxwrap.models/1';
const LONGEST = 200; // characters of a name

export const modelUsesRecord = (models: readonly ModelUse[]) => ({ schema: SCHEMA, models });

/** Everything in the text that can be read; empty for any other text. */
export const parseModelUses = (text: string): readonly ModelUse[] => {
  const record = parseRecord(text);
  if (record?.['schema'] !== SCHEMA) return [];
  return getList(record, 'models')
    .filter(isRecord)
    .flatMap((each) => useIn(each) ?? [])
    .slice(0, MOST_USES);
};

const useIn = (record: JsonRecord): ModelUse | undefined => {
  const [agent, model, usedAt] = [
    nameIn(record, 'agent'),
    nameIn(record, 'model'),
    getCount(record, 'usedAt'),
  ];
  if (agent === undefined || usedAt === undefined) return undefined;
  return { agent, usedAt, ...present({ model, window: windowIn(getRecord(record, 'window')) }) };
};

const windowIn = (record: JsonRecord | undefined): UsedWindow | undefined => {
  const [windowTokens = 0, at] = [getCount(record, 'windowTokens'), getCount(record, 'at')];
  const windowSource = certainSources.find((source) => source === getText(record, 'windowSource'));
  if (!windowSource || at === undefined || windowTokens < MIN_TOKENS || windowTokens > IMPOSSIBLE_TOKENS)
    return undefined;
  return { windowTokens, windowSource, at, ...present({ agentVersion: nameIn(record, 'agentVersion') }) };
};

const nameIn = (record: JsonRecord | undefined, field: string): string | undefined => {
  const text = getText(record, field);
  return text === undefined || text === '' || text.length > LONGEST ? undefined : text;
};
