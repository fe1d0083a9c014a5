import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorText, isRecord, listAt, parseRecord, textAt } from '../core/json.js';
import type { VerifiedCheck } from '../core/records.js';
import { type TriedAgent, triedAgents } from './agents.js';
import { SHORT_SUMMARY_MS, steps } from './certificate.js';
import { environmentIn, versionOf } from './ground.js';
import { openStage, type Stage } from './stage.js';

// Plays the certificate in the place where it was started, and tells what happens.

const LOOK_MS = 1_000; // a person looks at what has come up: Gemini loses keys that are pressed in its first moment
const PATIENCE_MS = 15_000;
const LONGEST_MS = 100_000; // until the last check begins
const SCREEN_ROWS = 8;

/** What is to be played. */
export interface Order {
  readonly agent: string;
  /** the agent's program */
  readonly file: string;
  /** for everything that is written */
  readonly folder: string;
  /** Node, and ctxwrap's program */
  readonly ctxwrap: readonly [string, string];
  /** folders of other programs */
  readonly programs: readonly string[];
  /** nothing but the agent's own settings keeps it from the network */
  readonly isOpen: boolean;
}

/** What is told, in this order. */
export type Told =
  | { readonly kind: 'version'; readonly version: string }
  | ({
      readonly kind: 'check';
      /** the last rows, where something went wrong */
      readonly screen: readonly string[];
    } & VerifiedCheck)
  /** it could not be played at all */
  | { readonly kind: 'trouble'; readonly text: string };

export const parseOrder = (text: string): Order | undefined => {
  const found = parseRecord(text);
  const [agent, file, folder] = [textAt(found, 'agent'), textAt(found, 'file'), textAt(found, 'folder')];
  const [node, program] = listAt(found, 'ctxwrap');
  const programs = listAt(found, 'programs').filter((each) => typeof each === 'string');
  if (agent === undefined || file === undefined || folder === undefined) return undefined;
  if (typeof node !== 'string' || typeof program !== 'string') return undefined;
  return { agent, file, folder, ctxwrap: [node, program], programs, isOpen: found?.['isOpen'] === true };
};

/** What the other process has told in a line; undefined for everything else. */
export const parseTold = (line: string): Told | undefined => {
  const found = parseRecord(line);
  const [version, text, name] = ['version', 'text', 'name'].map((key) => textAt(found, key));
  switch (found?.['kind']) {
    case 'version':
      return version === undefined ? undefined : { kind: 'version', version };
    case 'trouble':
      return { kind: 'trouble', text: text ?? '' };
    case 'check': {
      if (name === undefined || !isRecord(found)) return undefined;
      const screen = listAt(found, 'screen').filter((each) => typeof each === 'string');
      const evidence = textAt(found, 'evidence') ?? '';
      return { kind: 'check', name, isGood: found['isGood'] === true, evidence, screen };
    }
    default:
      return undefined;
  }
};

export const perform = async (order: Order, tell: (told: Told) => Promise<unknown>): Promise<void> => {
  const agent = triedAgents.find(({ name }) => name === order.agent);
  if (!agent) throw new Error(`no such agent: ${order.agent}`);
  try {
    await playAll(await open(agent, order, tell), tell);
  } catch (error) {
    await tell({ kind: 'trouble', text: errorText(error) });
  }
};

const open = async (
  agent: TriedAgent,
  { file, folder, ctxwrap, programs, isOpen }: Order,
  tell: (told: Told) => Promise<unknown>,
): Promise<Stage> => {
  const commands = dirname(file);
  const [node] = ctxwrap;
  const env = environmentIn(join(folder, 'home'), [commands, dirname(node)], programs);
  const version = await versionOf(agent, env);
  if (version === undefined) throw new Error(`${file} --version printed no version`);
  await tell({ kind: 'version', version });
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  const place = { commands, ctxwrap, folder, programs, temporary, isOpen };
  return openStage({ agent, version, ...place, summaryMs: SHORT_SUMMARY_MS, patienceMs: PATIENCE_MS });
};

const playAll = async (stage: Stage, tell: (told: Told) => Promise<unknown>): Promise<void> => {
  let isOver = false;
  void stage.terminal.ended.then(() => (isOver = true));
  try {
    await start(stage);
    const end = performance.now() + LONGEST_MS;
    for (const { name, play } of steps) {
      const isLate = performance.now() > end;
      const reason = isOver ? 'the session has ended' : isLate ? 'what came before took too long' : undefined;
      const check = reason === undefined ? await judged(stage, play) : unplayed(reason);
      await tell({ kind: 'check', name, ...check });
    }
  } catch (error) {
    await tell({ kind: 'trouble', text: errorText(error) });
  } finally {
    await stage.end();
  }
};

const START_MS = 60_000; // on a busy machine

const start = async ({ terminal, watch, agent }: Stage): Promise<void> => {
  const isReady = (): boolean => agent.ready.test(terminal.screen());
  const what = `${agent.name} with its prompt (${agent.ready})`;
  await terminal.until(isReady, what, START_MS).catch((error: unknown) => {
    throw new Error(`${errorText(error)}; the screen: ${lastRows(terminal.rows()).join(' | ')}`);
  });
  await watch(LOOK_MS);
  await terminal.until(isReady, what);
};

const OWN_COMPACTION = /compaction by the (?:agent|user): .*/; // of the agent's own accord: the window is not full any more

const unplayed = (reason: string) => ({ isGood: false, evidence: `not played: ${reason}`, screen: [] });

const judged = async (stage: Stage, play: (stage: Stage) => Promise<string>) => {
  const { terminal, activity, log } = stage;
  const from = log().length;
  try {
    return { isGood: true, evidence: await play(stage), screen: [] };
  } catch (error) {
    const own = OWN_COMPACTION.exec(log().slice(from))?.[0];
    const seen = [own, `the agent was last taken for: ${activity() ?? 'nothing'}`].filter(Boolean);
    const evidence = [errorText(error), ...seen].join('; ');
    return { isGood: false, evidence, screen: lastRows(terminal.rows()) };
  }
};

const lastRows = (rows: readonly string[]): readonly string[] =>
  rows.filter((row) => /[\p{L}\p{N}]/u.test(row)).slice(-SCREEN_ROWS);
