import { mkdirSync, existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorText, isRecord, listAt, parseRecord, textAt } from '../core/json.js';
import type { VerifiedCheck } from '../core/records.js';
import { type TriedAgent, triedAgents } from './agents.js';
import { SHORT_SUMMARY_MS, steps } from './certificate.js';
import { environmentIn, versionOf } from './ground.js';
import { strokesIn, sortKeys, writesIn } from './keys.js';
import { must, SUMMARY_MS, type Scenario } from './scenario.js';
import { openStage, type Stage, BOUNDS, type StageOptions } from './stage.js';

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
    const stage = await open(agent, order, tell);
    if (stage) await playAll(stage, tell);
  } catch (error) {
    await tell({ kind: 'trouble', text: errorText(error) });
  }
};

const open = async (
  agent: TriedAgent,
  { file, folder, ctxwrap, programs, isOpen }: Order,
  tell: (told: Told) => Promise<unknown>,
): Promise<Stage | undefined> => {
  const commands = dirname(file);
  const [node] = ctxwrap;
  const env = environmentIn(join(folder, 'home'), [commands, dirname(node)], programs);
  const version = await versionOf(agent, env);
  if (version === undefined) throw new Error(`${file} --version printed no version`);
  await tell({ kind: 'version', version });
  const rest = { options: [], isVim: false, hearsState: false, summaryMs: SHORT_SUMMARY_MS };
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  const place = { commands, ctxwrap, folder, programs, temporary, isOpen, patienceMs: PATIENCE_MS };
  return openStage({ agent, version, ...place, ...rest });
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
      const check = await (reason === undefined ? judged(stage, play) : unplayed(reason));
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

const unplayed = async (reason: string) => ({
  isGood: false,
  evidence: `not played: ${reason}`,
  screen: [],
});

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

// Plays one scenario with one agent, once, and judges it. Runs in a place without a network.

const PLAY_LOOK_MS = 1_000; // a person looks at what has come up: Gemini loses keys that are pressed in its first moment

export interface Verdict {
  readonly isGood: boolean;
  /** what proves it, or what went wrong */
  readonly evidence: string;
}

export interface PlayOptions<Agent extends TriedAgent> extends Pick<
  StageOptions<Agent>,
  'agent' | 'version' | 'commands' | 'ctxwrap' | 'folder'
> {
  readonly scenario: Scenario<Agent>;
  /** of ctxwrap, beside those of the scenario */
  readonly options?: readonly string[];
}

export const play = async <Agent extends TriedAgent>(given: PlayOptions<Agent>): Promise<Verdict> => {
  const { agent, scenario, folder } = given;
  const { isVim = false, hearsState = false, summaryMs = SUMMARY_MS } = scenario;
  const bounds = Object.entries(BOUNDS).flatMap(([tier, tokens]) => [`--${tier}`, String(tokens)]);
  const options = [...bounds, ...(scenario.options ?? []), ...(given.options ?? [])];
  const files = scenario.files?.(given.ctxwrap.join(' '), agent);
  const stage = await openStage({ ...given, options, isVim, hearsState, summaryMs, files });
  let verdict: Verdict;
  try {
    await stage.untilScreen(agent.ready);
    await stage.watch(PLAY_LOOK_MS);
    await stage.untilScreen(agent.ready);
    const evidence = await scenario.play(stage);
    verdict = { isGood: true, evidence };
  } catch (error) {
    verdict = { isGood: false, evidence: errorText(error) };
  }
  await stage.end();
  const judged = withKeys(verdict, stage, scenario);
  writeFileSync(join(folder, 'verdict.json'), JSON.stringify(judged, undefined, 1));
  return judged;
};

/** The keys in the recording judge, too: also of a scenario that went well so far. */
const withKeys = <Agent extends TriedAgent>(
  verdict: Verdict,
  stage: Stage<Agent>,
  { typed, strokes }: Scenario<Agent>,
): Verdict => {
  try {
    const { ours, runs, lost } = sortKeys(writesIn(stage.cast()), stage.terminal.pressed());
    if (verdict.isGood) {
      must(lost === '', `keys of the user were lost: ${JSON.stringify(lost)}`);
      const { agent } = stage;
      const command = strokes?.(agent) ?? agent.strokes;
      const expected = Array.from({ length: typed ?? 0 }, () => command).flat();
      must(
        typed === undefined || JSON.stringify(ours) === JSON.stringify(expected),
        `keys that nobody pressed: ${JSON.stringify(ours)}`,
      );
      must(typed === undefined || runs === typed, 'a key of the user came between the command and its Enter');
      const audited = strokesIn(stage.audit());
      must(
        JSON.stringify(audited) === JSON.stringify(ours),
        `the audit log tells of ${JSON.stringify(audited)}, and not of ${JSON.stringify(ours)}`,
      );
      must(!existsSync(join(stage.project, 'approved')), 'a tool was approved');
    }
    return { ...verdict, evidence: `keys of ours: ${ours.length}; ${verdict.evidence}` };
  } catch (error) {
    return { isGood: false, evidence: errorText(error) };
  }
};
