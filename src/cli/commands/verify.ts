import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../../agents/agent.js';
import { agents } from '../../agents/index.js';
import { isFullyVerified, formatScore, type VerifiedRecord } from '../../core/report/records.js';
import { systemReason } from '../../storage/errors.js';
import { type FoundCommand, findCommand } from '../../storage/find-command.js';
import { writeVerified } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import { toPlainText } from '../../ui/text.js';
import { bestIsolation, type Isolation } from '../../verify/sandbox.js';
import { parseVerifyRequest, runVerification } from '../../verify/runner.js';
import * as messages from '../messages.js';
import { print, printLines, version as ownVersion } from '../print.js';
import { agentWords } from '../../agents/launches.js';
import type { VerifyRequest } from '../define/verify.js';
import type { Outcome } from '../session.js';
import { type Painter, painterFor } from '../text.js';
import { jsonText, type Styled } from '../../core/printable.js';
import { type ReportedCheck, type TrialResult, catchStopSignals, tryAgent } from '../verify.js';

// The output of `ctxwrap verify` for people.

const NOTHING_OF_YOURS = 'It gets made-up keys and a temporary home folder';

/** `openFor`: why the sandbox has a network. */
export const placeText = (openFor: string | undefined): string =>
  openFor === undefined
    ? `The agent runs in a network namespace and can reach only a mock model server. ${NOTHING_OF_YOURS}.`
    : `No network namespace (${toPlainText(openFor)}): only its base URL keeps the agent on the mock model server. ${NOTHING_OF_YOURS}.`;

export const absentText = (agent: string, found: FoundCommand, npmPackage: string | undefined): string => {
  if (found.kind === 'not-executable')
    return `${agent}: cannot run ${toPlainText(found.file)} (${found.reason})`;
  const install = npmPackage === undefined ? '' : ` (npm install -g ${npmPackage})`;
  return `${agent}: not installed${install}`;
};

export const agentText = (agent: string, file: string): string => `${agent}: ${toPlainText(file)}`;

/** Includes the last rows of the screen for a failed check. */
export const checkLines = (
  { name, isGood, evidence, screen }: ReportedCheck,
  paint: Painter,
): readonly Styled[] => [
  [
    '  ',
    paint.tier(isGood ? 'safe' : 'hard', isGood ? '✓' : '✗'),
    ` ${toPlainText(name)}: ${toPlainText(evidence)}`,
  ],
  ...screen.map((row) => paint.dim(`    | ${toPlainText(row)}`)),
];

export const summaryLines = (tried: TrialResult): readonly string[] => {
  const { agent, version = '(unknown version)', seconds, kept } = tried;
  const verdict = isFullyVerified(tried) ? 'verified' : 'not verified';
  return [
    `  ${agent} ${toPlainText(version)}: ${verdict}, ${formatScore(tried)} in ${seconds} s`,
    ...(kept === undefined
      ? []
      : [`  recording: ${toPlainText(join(kept, 'session.cast'))}, with the log beside it`]),
  ];
};

/** `ctxwrap verify`: runs the installed agents in a sandbox without network or user files, and reports which checks pass. */
export const verify = async (request: VerifyRequest): Promise<Outcome> => {
  if (request.order !== undefined) return play(request.order);
  const found = agentsIn(request);
  const stopping = catchStopSignals();
  try {
    const tried = await tryAll(found, request, stopping.signal);
    const signal = stopping.name();
    if (signal !== undefined)
      return { status: { kind: 'signal', signal }, notices: [messages.verifyStopped] };
    const code = tried.results.every((each) => isFullyVerified(each)) ? 0 : 1;
    return { status: { kind: 'code', code }, notices: tried.notices };
  } finally {
    stopping.release();
  }
};

/** Runs inside the sandbox. */
const play = async (text: string): Promise<Outcome> => {
  const order = parseVerifyRequest(text);
  if (!order) throw messages.misplacedArguments();
  await runVerification(order, (message) => print(jsonText(message)));
  return { status: { kind: 'code', code: 0 }, notices: [] };
};

interface FoundAgent {
  readonly agent: string;
  readonly found: FoundCommand;
  readonly npmPackage: string | undefined;
}

/** The agents to verify. Throws when the named one, or every one, is missing. */
const agentsIn = ({ agent: named }: VerifyRequest): readonly FoundAgent[] => {
  const self = realpathSync(process.argv[1] ?? '');
  const all = Object.values<Agent>(agents)
    .filter(({ name, command }) => command === name && agentWords.includes(name))
    .filter(({ name }) => named === undefined || name === named)
    .map(({ name, npmPackage }): FoundAgent => ({
      agent: name,
      found: findCommand(name, { path: process.env['PATH'], self }),
      npmPackage,
    }));
  if (all.some(({ found }) => found.kind === 'found')) return all;
  throw messages.nothingToVerify(all.map(absentWords));
};

const absentWords = ({ agent, found, npmPackage }: FoundAgent): string =>
  absentText(agent, found, npmPackage);

interface Results {
  readonly results: readonly TrialResult[];
  readonly notices: readonly string[];
}

const tryAll = async (
  agents: readonly FoundAgent[],
  { json, keep }: VerifyRequest,
  signal: AbortSignal,
): Promise<Results> => {
  const place = bestIsolation();
  const paint = painterFor(process.stdout.isTTY, process.env);
  const say = async (...lines: readonly Styled[]): Promise<void> => {
    if (!json) await printLines(lines);
  };
  await say(placeText(place.networkReason));
  const results: TrialResult[] = [];
  const notices: string[] = [];
  for (const each of agents) {
    const { agent, found } = each;
    if (signal.aborted) break;
    if (found.kind !== 'found') {
      await say('', absentWords(each));
      continue;
    }
    await say('', agentText(agent, found.file));
    const tried = await tryAgent({
      agent,
      file: found.file,
      place,
      keep,
      signal,
      onCheck: (check) => say(...checkLines(check, paint)),
    });
    if (!tried) break;
    results.push(tried);
    await say(...summaryLines(tried));
    const trouble = await keepRecord(recordOf(tried, place));
    if (trouble !== undefined) notices.push(trouble);
  }
  if (json && !signal.aborted) await print(jsonText(reportOf(agents, results, place), 2));
  return { results, notices };
};

/** Undefined for an agent that did not report its version: the record could never be looked up. */
const recordOf = (
  { agent, version, checks, seconds }: TrialResult,
  { networkReason }: Isolation,
): VerifiedRecord | undefined =>
  version === undefined
    ? undefined
    : {
        schema: 'ctxwrap.verified/1',
        agent,
        agentVersion: version,
        version: ownVersion(),
        at: Date.now(),
        seconds,
        place: networkReason === undefined ? 'namespace' : 'base URL',
        checks,
      };

/** Returns why the record could not be saved. */
const keepRecord = async (record: VerifiedRecord | undefined): Promise<string | undefined> => {
  if (!record) return undefined;
  const { env } = process;
  try {
    await writeVerified(stateFolder(env, homeFolder(env)), record);
    return undefined;
  } catch (error) {
    return messages.verifiedNotKept(systemReason(error));
  }
};

const reportOf = (
  agents: readonly FoundAgent[],
  results: readonly TrialResult[],
  place: Isolation,
): object => ({
  schema: 'ctxwrap.verify/1',
  version: ownVersion(),
  agents: agents.map(({ agent, found }) => {
    const tried = results.find((each) => each.agent === agent);
    if (!tried) return { agent, installed: found.kind === 'found' };
    const record = recordOf(tried, place);
    const { checks, seconds, file, kept } = tried;
    const rest = kept === undefined ? {} : { recording: kept };
    return {
      agent,
      installed: true,
      file,
      verified: isFullyVerified(tried),
      ...(record ?? { checks, seconds }),
      ...rest,
    };
  }),
});
