import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorText } from '../core/errors.js';
import { isRecord, getList, parseRecord, getText } from '../core/json.js';
import type { VerifiedCheck } from '../core/report/records.js';
import { type VerifiableAgent, verifiableAgents } from './agents.js';
import { SHORT_SUMMARY_MS, checks } from './checks.js';
import { environmentIn, versionOf } from './sandbox.js';
import { openTrial, type TrialSession } from './trial.js';

// Runs the checks inside the sandbox, and reports the results as messages.

const LOOK_MS = 1_000; // a short wait after the start: Gemini loses keys that are pressed in its first moment
const PATIENCE_MS = 15_000;
const LONGEST_MS = 100_000; // until the last check begins
const SCREEN_ROWS = 8;

/** What to verify; passed to the process inside the sandbox. */
export interface VerifyRequest {
  readonly agent: string;
  /** the agent's program */
  readonly file: string;
  /** for all files that are written */
  readonly folder: string;
  /** the paths of Node and of ctxwrap's program */
  readonly ctxwrap: readonly [string, string];
  /** folders of other programs */
  readonly programs: readonly string[];
  /** only the agent's own settings keep it from the network */
  readonly isOpen: boolean;
}

/** The messages, in this order. */
export type VerifyMessage =
  | { readonly kind: 'version'; readonly version: string }
  | ({
      readonly kind: 'check';
      /** the last rows, where the check failed */
      readonly screen: readonly string[];
    } & VerifiedCheck)
  /** the checks could not be run at all */
  | { readonly kind: 'trouble'; readonly text: string };

export const parseVerifyRequest = (text: string): VerifyRequest | undefined => {
  const found = parseRecord(text);
  const [agent, file, folder] = [getText(found, 'agent'), getText(found, 'file'), getText(found, 'folder')];
  const [node, program] = getList(found, 'ctxwrap');
  const programs = getList(found, 'programs').filter((each) => typeof each === 'string');
  if (agent === undefined || file === undefined || folder === undefined) return undefined;
  if (typeof node !== 'string' || typeof program !== 'string') return undefined;
  return { agent, file, folder, ctxwrap: [node, program], programs, isOpen: found?.['isOpen'] === true };
};

/** Parses a message of the other process; undefined for any other line. */
export const parseVerifyMessage = (line: string): VerifyMessage | undefined => {
  const found = parseRecord(line);
  const [version, text, name] = ['version', 'text', 'name'].map((key) => getText(found, key));
  switch (found?.['kind']) {
    case 'version':
      return version === undefined ? undefined : { kind: 'version', version };
    case 'trouble':
      return { kind: 'trouble', text: text ?? '' };
    case 'check': {
      if (name === undefined || !isRecord(found)) return undefined;
      const screen = getList(found, 'screen').filter((each) => typeof each === 'string');
      const evidence = getText(found, 'evidence') ?? '';
      return { kind: 'check', name, isGood: found['isGood'] === true, evidence, screen };
    }
    default:
      return undefined;
  }
};

export const runVerification = async (
  request: VerifyRequest,
  send: (message: VerifyMessage) => Promise<unknown>,
): Promise<void> => {
  const agent = verifiableAgents.find(({ name }) => name === request.agent);
  if (!agent) throw new Error(`no such agent: ${request.agent}`);
  try {
    await runChecks(await open(agent, request, send), send);
  } catch (error) {
    await send({ kind: 'trouble', text: errorText(error) });
  }
};

const open = async (
  agent: VerifiableAgent,
  { file, folder, ctxwrap, programs, isOpen }: VerifyRequest,
  send: (message: VerifyMessage) => Promise<unknown>,
): Promise<TrialSession> => {
  const commands = dirname(file);
  const [node] = ctxwrap;
  const env = environmentIn(join(folder, 'home'), [commands, dirname(node)], programs);
  const version = await versionOf(agent, env);
  if (version === undefined) throw new Error(`${file} --version printed no version`);
  await send({ kind: 'version', version });
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  const place = { commands, ctxwrap, folder, programs, temporary, isOpen };
  return openTrial({ agent, version, ...place, summaryMs: SHORT_SUMMARY_MS, patienceMs: PATIENCE_MS });
};

const runChecks = async (
  trial: TrialSession,
  send: (message: VerifyMessage) => Promise<unknown>,
): Promise<void> => {
  let isOver = false;
  void trial.terminal.ended.then(() => (isOver = true));
  try {
    await start(trial);
    const end = performance.now() + LONGEST_MS;
    for (const { name, run } of checks) {
      const isLate = performance.now() > end;
      const reason = isOver
        ? 'the session has ended'
        : isLate
          ? 'the earlier checks took too long'
          : undefined;
      const check = reason === undefined ? await runCheck(trial, run) : notRun(reason);
      await send({ kind: 'check', name, ...check });
    }
  } catch (error) {
    await send({ kind: 'trouble', text: errorText(error) });
  } finally {
    await trial.end();
  }
};

const START_MS = 60_000; // on a busy machine

const start = async ({ terminal, waitFor, agent }: TrialSession): Promise<void> => {
  const isReady = (): boolean => agent.ready.test(terminal.screen());
  const what = `${agent.name} with its prompt (${agent.ready})`;
  await terminal.until(isReady, what, START_MS).catch((error: unknown) => {
    throw new Error(`${errorText(error)}; the screen: ${lastRows(terminal.rows()).join(' | ')}`);
  });
  await waitFor(LOOK_MS);
  await terminal.until(isReady, what);
};

const OWN_COMPACTION = /compaction by the (?:agent|user): .*/; // the agent compacted on its own, so the window is not full any more

const notRun = (reason: string) => ({ isGood: false, evidence: `not played: ${reason}`, screen: [] });

const runCheck = async (trial: TrialSession, run: (trial: TrialSession) => Promise<string>) => {
  const { terminal, activity, log } = trial;
  const from = log().length;
  try {
    return { isGood: true, evidence: await run(trial), screen: [] };
  } catch (error) {
    const own = OWN_COMPACTION.exec(log().slice(from))?.[0];
    const seen = [own, `the agent was last seen as: ${activity() ?? 'nothing'}`].filter(Boolean);
    const evidence = [errorText(error), ...seen].join('; ');
    return { isGood: false, evidence, screen: lastRows(terminal.rows()) };
  }
};

const lastRows = (rows: readonly string[]): readonly string[] =>
  rows.filter((row) => /[\p{L}\p{N}]/u.test(row)).slice(-SCREEN_ROWS);
