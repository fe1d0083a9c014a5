// What `ctxwrap verify` prints for people.
import { join } from 'node:path';
import { isFullyVerified, scoreOf } from '../../core/verified-record.js';
import type { FoundCommand } from '../../storage/find-command.js';
import { plain } from '../../ui/plain-text.js';
import type { Paint } from '../paint.js';
import type { ToldCheck, Tried } from './try-agent.js';

const NOTHING_OF_YOURS = 'Its keys are made up, its home is a temporary folder';

/** `openFor`: why there is a network. */
export const placeText = (openFor: string | undefined): string =>
  openFor === undefined
    ? `In a network namespace: nothing but a made-up model server can be reached. ${NOTHING_OF_YOURS}.`
    : `Without a network namespace (${plain(openFor)}): by the base URL alone the agent asks a made-up model server. ${NOTHING_OF_YOURS}.`;

export const absentText = (agent: string, found: FoundCommand, npmPackage: string | undefined): string => {
  if (found.kind === 'not-executable')
    return `${agent}: ${plain(found.file)} cannot be run (${found.reason})`;
  const install = npmPackage === undefined ? '' : ` (npm install -g ${npmPackage})`;
  return `${agent}: not installed${install}`;
};

export const agentText = (agent: string, file: string): string => `${agent}: ${plain(file)}`;

/** With the last rows of the screen, where something went wrong. */
export const checkLines = (
  { name, isGood, evidence, screen }: ToldCheck,
  paint: Paint,
): readonly string[] => [
  `  ${paint.tier(isGood ? 'safe' : 'hard', isGood ? '✓' : '✗')} ${plain(name)}: ${plain(evidence)}`,
  ...screen.map((row) => paint.dim(`    | ${plain(row)}`)),
];

export const endLines = (tried: Tried): readonly string[] => {
  const { agent, version = 'of no known version', seconds, kept } = tried;
  const verdict = isFullyVerified(tried) ? 'verified' : 'not verified';
  return [
    `  ${agent} ${plain(version)}: ${verdict}, ${scoreOf(tried)} in ${seconds} s`,
    ...(kept === undefined
      ? []
      : [`  recording: ${plain(join(kept, 'session.cast'))}, with the log beside it`]),
  ];
};
