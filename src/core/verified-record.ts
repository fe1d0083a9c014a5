// What a user has tried of an agent with `ctxwrap verify`, as it is kept for other commands.
import { countAt, isRecord, listAt, parseRecord, textAt } from './json.js';
import { oneLine } from './one-line.js';
import type { Millis } from './reading.js';

/** One thing that was tried. */
export interface VerifiedCheck {
  readonly name: string;
  readonly isGood: boolean;
  /** what was seen; of a failure also what was expected */
  readonly evidence: string;
}

/** Where the agent ran: with no way to any network, or with nothing but the address of its model server to hold it. */
export type VerifiedPlace = 'namespace' | 'base URL';

/** All that was tried with one version of an agent. */
export interface VerifiedRecord {
  readonly schema: 'ctxwrap.verified/1';
  readonly agent: string;
  /** as the agent tells it */
  readonly agentVersion: string;
  /** of ctxwrap */
  readonly version: string;
  readonly at: Millis;
  readonly seconds: number;
  readonly place: VerifiedPlace;
  readonly checks: readonly VerifiedCheck[];
}

const SCHEMA = 'ctxwrap.verified/1';
const MOST_CHECKS = 64;
const LONGEST_NAME = 80;
const LONGEST_EVIDENCE = 400;
const LONGEST_VERSION = 64;
const VERSION = /^[A-Za-z0-9][\w.+-]*$/;

/** The record in a text; undefined for everything else. */
export const parseVerifiedRecord = (text: string): VerifiedRecord | undefined => {
  const found = parseRecord(text);
  if (!found || found['schema'] !== SCHEMA) return undefined;
  const [agent, agentVersion] = [textAt(found, 'agent'), textAt(found, 'agentVersion')];
  const at = countAt(found, 'at');
  const checks = listAt(found, 'checks').map(checkIn);
  if (agent === undefined || agentVersion === undefined || at === undefined) return undefined;
  if (checks.length === 0 || checks.length > MOST_CHECKS) return undefined;
  // one that is not understood may be the one that failed
  const understood = checks.filter((each) => each !== undefined);
  if (understood.length < checks.length) return undefined;
  return {
    schema: SCHEMA,
    agent,
    agentVersion,
    version: oneLine(textAt(found, 'version') ?? '', LONGEST_VERSION),
    at,
    seconds: countAt(found, 'seconds') ?? 0,
    place: found['place'] === 'namespace' ? 'namespace' : 'base URL',
    checks: understood,
  };
};

const checkIn = (found: unknown): VerifiedCheck | undefined => {
  const name = textAt(found, 'name');
  if (!isRecord(found) || name === undefined || typeof found['isGood'] !== 'boolean') return undefined;
  const evidence = oneLine(textAt(found, 'evidence') ?? '', LONGEST_EVIDENCE);
  return { name: oneLine(name, LONGEST_NAME), isGood: found['isGood'], evidence };
};

/** The name of a record's file, without its ending; undefined for a version that is none: nothing of it may lead to another folder. */
export const verifiedName = (agent: string, agentVersion: string): string | undefined =>
  agentVersion.length <= LONGEST_VERSION && VERSION.test(agentVersion) && VERSION.test(agent)
    ? `${agent}-${agentVersion}`
    : undefined;

export const goodChecks = ({ checks }: Pick<VerifiedRecord, 'checks'>): number =>
  checks.filter(({ isGood }) => isGood).length;

export const isFullyVerified = (record: Pick<VerifiedRecord, 'checks'>): boolean =>
  goodChecks(record) === record.checks.length;

/** `8 of 8` */
export const scoreOf = (record: Pick<VerifiedRecord, 'checks'>): string =>
  `${goodChecks(record)} of ${record.checks.length}`;
