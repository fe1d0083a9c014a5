// A compaction that is over as JSON: for the audit log, and for whoever asked for it. Nothing of the conversation is in it.
import { countAt, listAt, recordAt, textAt } from '../json.js';
import type { JsonRecord } from '../json.js';
import { oneLine } from '../one-line.js';
import type { Millis } from '../reading.js';
import type { Ended, Failure, Fill, Initiator, Outcome, OutcomeKind } from './outcome.js';
import { endedWords } from './words.js';

export interface AttemptRecord {
  readonly schema: 'ctxwrap.attempt/1';
  readonly initiator: Initiator;
  /** somebody asked for it */
  readonly isManual: boolean;
  readonly outcome: OutcomeKind;
  /** the outcome as the footer says it */
  readonly words: string;
  readonly failure?: Failure;
  readonly before?: Fill;
  readonly after?: Fill;
  readonly startedAt: Millis;
  readonly endedAt: Millis;
  readonly evidence: readonly string[];
}

const LONGEST_TEXT = 300; // characters: the agent's own words on an error can be a page
const MOST_EVIDENCE = 40;

export const attemptRecord = (ended: Ended): AttemptRecord => {
  const { initiator, isManual = false, outcome, before, startedAt, endedAt, evidence } = ended;
  const after = outcome.kind === 'verified' ? outcome.after : undefined;
  return {
    schema: 'ctxwrap.attempt/1',
    initiator,
    isManual,
    outcome: outcome.kind,
    words: oneLine(endedWords(ended), LONGEST_TEXT),
    ...(outcome.kind === 'failed' ? { failure: outcome.failure } : {}),
    ...(before ? { before } : {}),
    ...(after ? { after } : {}),
    startedAt,
    endedAt,
    evidence: boundedLines(evidence),
  };
};

/** Facts as lines of bounded length and number; of too many the last ones, which decided. */
export const boundedLines = (facts: readonly string[]): readonly string[] =>
  facts.slice(-MOST_EVIDENCE).map((fact) => oneLine(fact, LONGEST_TEXT));

/** The record as another process finds it; undefined when something that every record has is missing. */
export const parseAttempt = (found: JsonRecord | undefined): AttemptRecord | undefined => {
  const outcome = outcomes.find((each) => each === found?.['outcome']);
  const initiator = initiators.find((each) => each === found?.['initiator']);
  const [startedAt, endedAt] = [countAt(found, 'startedAt'), countAt(found, 'endedAt')];
  if (!outcome || !initiator || startedAt === undefined || endedAt === undefined) return undefined;
  const failure = failures.find((each) => each === found?.['failure']);
  const [before, after] = [fillIn(recordAt(found, 'before')), fillIn(recordAt(found, 'after'))];
  const evidence = listAt(found, 'evidence').filter((each) => typeof each === 'string');
  return {
    schema: 'ctxwrap.attempt/1',
    initiator,
    isManual: found?.['isManual'] === true,
    outcome,
    words: oneLine(textAt(found, 'words') ?? outcome, LONGEST_TEXT),
    ...(failure ? { failure } : {}),
    ...(before ? { before } : {}),
    ...(after ? { after } : {}),
    startedAt,
    endedAt,
    evidence: boundedLines(evidence),
  };
};

const fillIn = (found: JsonRecord | undefined): Fill | undefined => {
  const [usedTokens, usedPercent] = [countAt(found, 'usedTokens'), countAt(found, 'usedPercent')];
  if (usedTokens === undefined && usedPercent === undefined) return undefined;
  return {
    ...(usedTokens === undefined ? {} : { usedTokens }),
    ...(usedPercent === undefined ? {} : { usedPercent }),
  };
};

const initiators: readonly Initiator[] = ['ctxwrap', 'user', 'agent'];
const failures: readonly Failure[] = ['inflated', 'empty', 'truncated', 'error'];
// an object, so that an outcome that is forgotten here is an error of the compiler
const outcomeNames: Readonly<Record<Outcome['kind'], true>> = {
  verified: true,
  noop: true,
  failed: true,
  interrupted: true,
  'not-delivered': true,
  'not-started': true,
  timeout: true,
  unverified: true,
  'skipped-busy': true,
};
const outcomes = Object.keys(outcomeNames) as readonly OutcomeKind[];
