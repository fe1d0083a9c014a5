// A session record as another process finds it: written by whatever version, and perhaps not by us at all.
import { askedIn } from './activity.js';
import type { Activity } from './activity.js';
import type { Mode } from './compaction/state.js';
import { countAt, isRecord, listAt, parseRecord, recordAt, textAt } from './json.js';
import type { JsonRecord } from './json.js';
import type { Tier } from './ladder.js';
import type { ReadingRecord } from './reading-record.js';
import { possibleTokens } from './reading.js';
import type { Basis, Source, WindowSource } from './reading.js';
import type { CompactionRecord, EvidenceRecord, Exit, SessionRecord } from './session-record.js';
import type { Threshold } from './thresholds.js';

const SESSION_ID = /^[A-Za-z0-9_-]{1,64}$/;

export const isSessionId = (text: string): boolean => SESSION_ID.test(text);

/** The record in a text; undefined when something that every record has is missing. */
export const parseSessionRecord = (text: string): SessionRecord | undefined => {
  const found = parseRecord(text);
  if (!found || found['schema'] !== 'ctxwrap.session/1') return undefined;
  const id = textAt(found, 'id') ?? '';
  const [pid, childPid] = [countAt(found, 'pid'), countAt(found, 'childPid')];
  const [startedAt, heartbeatAt] = [countAt(found, 'startedAt'), countAt(found, 'heartbeatAt')];
  const [runtime, cwd] = [textAt(found, 'runtime'), textAt(found, 'cwd')];
  if (!isSessionId(id) || !pid || childPid === undefined || runtime === undefined) return undefined;
  if (startedAt === undefined || heartbeatAt === undefined || cwd === undefined) return undefined;
  return {
    schema: 'ctxwrap.session/1',
    id,
    version: textAt(found, 'version') ?? '',
    pid,
    childPid,
    runtime,
    cwd,
    startedAt,
    heartbeatAt,
    ...texts(found, ['processStart', 'agentVersion', 'agentSessionId', 'logPath', 'note']),
    ...counts(found, ['endedAt']),
    ...present('exit', exitIn(found)),
    ...present('reading', readingIn(recordAt(found, 'reading'))),
    ...present('tier', oneOf(tiers, found['tier'])),
    activity: oneOf(activities, found['activity']) ?? 'unknown',
    ...present('asks', askedIn(oneOf(activities, found['activity']) ?? 'unknown', textAt(found, 'asks'))),
    ...present('evidence', evidenceIn(recordAt(found, 'evidence'))),
    compactions: countAt(found, 'compactions') ?? 0,
    thresholds: listAt(found, 'thresholds').flatMap((each) => thresholdIn(each) ?? []),
    ...present('compaction', compactionIn(recordAt(found, 'compaction'))),
  };
};

const compactionIn = (found: JsonRecord | undefined): CompactionRecord | undefined => {
  const mode = oneOf(modes, found?.['mode']);
  const successful = found?.['compactSuccessful'];
  return (
    found &&
    mode && {
      mode,
      ...texts(found, ['words']),
      ...(typeof successful === 'boolean' ? { compactSuccessful: successful } : {}),
    }
  );
};

const evidenceIn = (found: JsonRecord | undefined): EvidenceRecord | undefined =>
  found && {
    records: found['records'] === true,
    screen: found['screen'] === true,
    state: found['state'] === true,
  };

const exitIn = (found: JsonRecord): Exit | undefined => {
  const signal = textAt(found['exit'], 'signal');
  const code = countAt(found['exit'], 'code');
  if (signal !== undefined) return { signal };
  return code === undefined ? undefined : { code };
};

const readingIn = (found: JsonRecord | undefined): ReadingRecord | undefined => {
  const at = countAt(found, 'at');
  const source = oneOf(sources, found?.['source']);
  if (!found || at === undefined || source === undefined) return undefined;
  return {
    schema: 'ctxwrap.reading/1',
    at,
    runtime: textAt(found, 'runtime') ?? '',
    source,
    basis: oneOf(bases, found['basis']) ?? 'window',
    ...present('usedTokens', possibleTokens(countAt(found, 'usedTokens'))),
    ...present('windowTokens', possibleTokens(countAt(found, 'windowTokens'))),
    ...present('usedPercent', percentIn(found)),
    ...present('windowSource', oneOf(windowSources, found['windowSource'])),
    exact: found['exact'] === true,
    ...present('tier', oneOf(tiers, found['tier'])),
    ...texts(found, ['model']),
  };
};

const percentIn = (found: JsonRecord): number | undefined => {
  const percent = countAt(found, 'usedPercent');
  return percent === undefined || percent > 100 ? undefined : percent;
};

const thresholdIn = (found: unknown): Threshold | undefined => {
  const name = isRecord(found) ? oneOf(thresholdNames, found['name']) : undefined;
  const value = countAt(found, 'value');
  if (name === undefined || value === undefined) return undefined;
  const unit = textAt(found, 'unit') === 'percent' ? 'percent' : 'tokens';
  return { name, value, unit, reason: textAt(found, 'reason') ?? '' };
};

const modes: readonly Mode[] = ['auto', 'ask', 'warn', 'off'];
const tiers: readonly Tier[] = ['safe', 'warn', 'auto', 'hard'];
const sources: readonly Source[] = ['official', 'log', 'screen', 'estimate'];
const bases: readonly Basis[] = ['window', 'effective', 'auto-compact', 'baseline'];
const windowSources: readonly WindowSource[] = ['user', 'agent', 'derived', 'table', 'default'];
const activities: readonly Activity[] = ['ready', 'draft', 'busy', 'dialog', 'compacting', 'unknown', 'dead'];
const thresholdNames: readonly Threshold['name'][] = ['effective', 'warn', 'auto', 'hard', 'native'];

const oneOf = <T extends string>(known: readonly T[], value: unknown): T | undefined =>
  known.find((each) => each === value);

const present = <K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } =>
  value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: V });

const texts = <K extends string>(from: JsonRecord, names: readonly K[]): { readonly [P in K]?: string } =>
  Object.assign({}, ...names.map((name) => present(name, textAt(from, name))));

const counts = <K extends string>(from: JsonRecord, names: readonly K[]): { readonly [P in K]?: number } =>
  Object.assign({}, ...names.map((name) => present(name, countAt(from, name))));
