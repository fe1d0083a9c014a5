import * as v from 'valibot';
import { ID, type CheckpointRecord, type KeptRecord } from './conversation/checkpoint.js';
import { toOneLine } from './text.js';
import { askedText, IMPOSSIBLE_TOKENS } from './reading.js';
import { type SessionRecord, type VerifiedRecord } from './report/records.js';
import { SESSION_ID } from './report/session-id.js';
import { present } from './present.js';

// Reads records of sessions, of the black box and of `ctxwrap verify`. They may come from another version or another program: a field of an unexpected form
// is ignored, and a record without a required field is rejected. Valibot takes some milliseconds to load, so this file is loaded only when
// there is a record to read.

export const count = v.pipe(v.number(), v.finite(), v.minValue(0));
const moment = v.pipe(count, v.maxValue(8.64e15)); // the last moment that Date knows
const tokens = v.pipe(count, v.maxValue(IMPOSSIBLE_TOKENS));
const pid = v.pipe(count, v.integer(), v.maxValue(2 ** 32));
const MOST_COMPACTIONS = 100_000; // of a session; more is a mistake
export const text = v.fallback(v.string(), '');
export const flag = v.fallback(v.boolean(), false);
const tier = v.picklist(['safe', 'warn', 'auto', 'hard']);

type Schema = v.GenericSchema<unknown>;

export const maybe = <S extends Schema>(schema: S) =>
  v.optional(v.fallback(v.optional(schema), undefined as v.InferOutput<S> | undefined));

/** An object with these fields, without absent ones. */
export const fields = <E extends v.ObjectEntries>(entries: E) =>
  v.pipe(
    v.object(entries),
    v.transform((found) => {
      const all = Object.entries(found).filter(([, value]) => value !== undefined);
      return Object.fromEntries(all) as Whole<v.InferOutput<v.ObjectSchema<E, undefined>>>;
    }),
  );

/** A field that is present is not undefined. */
type Whole<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> };

/** The items that have the expected form. */
const itemsOf = <S extends Schema>(schema: S) =>
  v.fallback(
    v.pipe(
      v.array(v.unknown()),
      v.transform((items) => items.flatMap((item) => validItem(schema, item))),
    ),
    [],
  );

const validItem = <S extends Schema>(schema: S, item: unknown): readonly v.InferOutput<S>[] => {
  const { success, output } = v.safeParse(schema, item);
  return success ? [output] : [];
};

const reading = fields({
  schema: v.fallback(v.literal('ctxwrap.reading/1'), 'ctxwrap.reading/1'),
  at: moment,
  runtime: text,
  source: v.picklist(['official', 'log', 'screen', 'estimate']),
  basis: v.fallback(v.picklist(['window', 'effective', 'auto-compact', 'baseline']), 'window'),
  usedTokens: maybe(tokens),
  answerTokens: maybe(tokens),
  windowTokens: maybe(tokens),
  usedPercent: maybe(v.pipe(count, v.maxValue(100))),
  windowSource: maybe(v.picklist(['user', 'agent', 'derived', 'table', 'remembered', 'default'])),
  over: maybe(v.literal(true)),
  exact: flag,
  tier: maybe(tier),
  model: maybe(v.string()),
});

const cache = v.object({ expiresAt: moment, exact: flag });
const MOST_LIMITS = 8;
const limit = fields({
  name: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,24}$/)),
  usedPercent: v.pipe(count, v.maxValue(1e6)),
  resetsAt: maybe(moment),
});

const threshold = v.object({
  name: v.picklist(['effective', 'warn', 'auto', 'hard', 'native']),
  value: count,
  unit: v.fallback(v.picklist(['tokens', 'percent']), 'tokens'),
  reason: text,
});

const next = fields({
  kind: v.picklist(['limit', 'auto', 'own', 'hard']),
  value: tokens,
  unit: v.picklist(['tokens', 'percent']),
  left: maybe(tokens),
  wayPercent: maybe(v.pipe(count, v.maxValue(100))),
  distance: maybe(v.object({ to: v.picklist(['limit', 'own']), tokens })),
});

const activities = ['ready', 'draft', 'busy', 'dialog', 'compacting', 'unknown', 'dead'] as const;

const session = fields({
  schema: v.literal('ctxwrap.session/1'),
  id: v.pipe(v.string(), v.regex(SESSION_ID)),
  version: text,
  pid: v.pipe(pid, v.gtValue(0)),
  processStart: maybe(v.string()),
  childPid: pid,
  runtime: v.string(),
  cwd: v.string(),
  channel: maybe(v.picklist(['server', 'daemon'])),
  startedAt: moment,
  heartbeatAt: moment,
  endedAt: maybe(moment),
  failedAt: maybe(moment),
  exit: maybe(v.union([v.object({ signal: v.string() }), v.object({ code: count })])),
  agentVersion: maybe(v.string()),
  agentSessionId: maybe(v.string()),
  logPath: maybe(v.string()),
  shortenedFrom: maybe(v.object({ id: v.pipe(v.string(), v.regex(SESSION_ID)), path: v.string() })),
  handoff: maybe(v.object({ state: v.literal('handoff_ready'), path: v.string(), at: moment })),
  note: maybe(v.string()),
  reading: maybe(reading),
  tier: maybe(tier),
  activity: v.fallback(v.picklist(activities), 'unknown'),
  activitySince: maybe(moment),
  asks: maybe(v.string()),
  evidence: maybe(v.object({ records: flag, screen: flag, state: flag })),
  compactions: v.fallback(v.pipe(count, v.maxValue(MOST_COMPACTIONS)), 0),
  cumulativeChars: maybe(count),
  estimatedTokens: maybe(tokens),
  currentTask: maybe(v.string()),
  tasksTotal: maybe(count),
  tasksCompleted: maybe(count),
  turns: maybe(v.pipe(count, v.maxValue(MOST_COMPACTIONS))),
  cache: maybe(cache),
  limits: maybe(
    v.pipe(
      itemsOf(limit),
      v.transform((limits) => limits.slice(0, MOST_LIMITS)),
    ),
  ),
  thresholds: itemsOf(threshold),
  next: maybe(next),
  compaction: maybe(
    fields({
      mode: v.picklist(['auto', 'ask', 'warn', 'off']),
      words: maybe(v.string()),
      request: maybe(v.string()),
      compactSuccessful: maybe(v.boolean()),
    }),
  ),
});

const jsonOf = <S extends Schema>(schema: S) => v.pipe(v.string(), v.parseJson(), schema);

const read = <S extends Schema>(schema: S, from: string): v.InferOutput<S> | undefined => {
  const { success, output } = v.safeParse(jsonOf(schema), from);
  return success ? output : undefined;
};

/** Parses a record; undefined if a required field is missing. */
export const parseSessionRecord = (from: string): SessionRecord | undefined => {
  const found = read(session, from);
  if (!found) return undefined;
  const { asks, ...rest } = found;
  const asked = askedText(rest.activity, asks);
  return { ...rest, ...present({ asks: asked }) };
};

export const line = (longest: number) => v.transform((from: string) => toOneLine(from, longest));

const verified = v.object({
  schema: v.literal('ctxwrap.verified/1'),
  agent: v.string(),
  agentVersion: v.string(),
  version: v.pipe(text, line(64)),
  at: count,
  seconds: v.fallback(count, 0),
  place: v.fallback(v.picklist(['namespace', 'base URL']), 'base URL'),
  // an unknown check may be the one that failed
  checks: v.pipe(
    v.array(
      v.object({
        name: v.pipe(v.string(), line(80)),
        isGood: v.boolean(),
        evidence: v.pipe(text, line(400)),
      }),
    ),
    v.minLength(1),
    v.maxLength(64),
  ),
});

/** Parses a record; undefined for anything else. */
export const parseVerifiedRecord = (from: string): VerifiedRecord | undefined => read(verified, from);

// The records of the black box. Unlike those above they lead to files, so every field that names one is checked.

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const id = v.pipe(v.string(), v.regex(ID));
const decimal = v.pipe(v.string(), v.regex(/^\d{1,20}$/));
const wholeBytes = v.pipe(count, v.safeInteger());
const MOST_CHUNKS = 100_000; // of a megabyte each
const MOST_DIRTY = 200;
const MOST_FILES = 64;
const MOST_EVENTS = 64;

const keptOf = { runtime: v.string(), session: v.string(), cwd: text, path: text };
const identity = { device: decimal, inode: decimal, bornAt: decimal };

const checkpoint = v.pipe(
  fields({
    schema: v.literal('ctxwrap.checkpoint/1'),
    id,
    ...keptOf,
    why: v.picklist(['first', 'growing', 'before', 'compaction', 'asked']),
    at: count,
    file: v.object(identity),
    bytes: wholeBytes,
    sha256,
    chunks: v.pipe(
      v.array(
        v.object({
          sha256,
          bytes: v.pipe(wholeBytes, v.minValue(1)),
          storedBytes: wholeBytes,
          codec: v.picklist(['zstd', 'gzip']),
        }),
      ),
      v.maxLength(MOST_CHUNKS),
    ),
    boundary: maybe(
      fields({
        at: count,
        initiator: maybe(v.picklist(['ctxwrap', 'user', 'agent'])),
        preTokens: maybe(tokens),
        postTokens: maybe(tokens),
        uuid: maybe(v.string()),
      }),
    ),
    reading: maybe(reading),
    git: maybe(
      fields({
        head: maybe(v.string()),
        dirty: v.pipe(
          itemsOf(v.string()),
          v.transform((paths) => paths.slice(0, MOST_DIRTY)),
        ),
        isCut: maybe(v.literal(true)),
      }),
    ),
  }),
  v.check(({ bytes, chunks }) => chunks.reduce((sum, each) => sum + each.bytes, 0) === bytes),
);

/** Parses the record of a copy; undefined if anything that leads to its contents is wrong. */
export const parseCheckpoint = (from: string): CheckpointRecord | undefined => read(checkpoint, from);

const kept = v.object({
  schema: v.literal('ctxwrap.kept/1'),
  ...keptOf,
  since: count,
  files: v.pipe(
    itemsOf(v.object({ id, ...identity, since: count, path: text })),
    v.transform((files) => files.slice(-MOST_FILES)),
  ),
  events: v.pipe(
    itemsOf(
      fields({
        at: count,
        fate: v.picklist(['replaced', 'rewritten', 'shortened', 'removed']),
        path: text,
        kept: maybe(id),
      }),
    ),
    v.transform((events) => events.slice(-MOST_EVENTS)),
  ),
});

/** Parses the index of a session; undefined for anything else. */
export const parseKept = (from: string): KeptRecord | undefined => read(kept, from);
