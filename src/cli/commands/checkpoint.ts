import { resolve } from 'node:path';
import {
  checkpointLine,
  type CheckpointReason,
  type CheckpointRecord,
  type FileEvent,
  type FileFate,
} from '../../core/conversation/checkpoint.js';
import { allAgents } from '../../agents/index.js';
import { isBlackBoxOn } from '../../core/config/keys.js';
import { errorCode, UserError } from '../../core/errors.js';
import { formatBytes, formatTokens } from '../../core/format.js';
import type { JsonRecord } from '../../core/json.js';
import {
  listKept,
  newestCopy,
  restoreCopy,
  type KeptCopy,
  type KeptSession,
} from '../../storage/blackbox/blackbox.js';
import { keepCopy } from '../../storage/blackbox/keep.js';
import { pruneBlackBox } from '../../storage/blackbox/prune.js';
import { systemReason } from '../../storage/errors.js';
import { readGit } from '../../storage/git.js';
import { openAudit } from '../../storage/log-file.js';
import { listSessions } from '../../storage/sessions.js';
import { homeFolder, stateFolder as stateFolderOf } from '../../storage/state-folder.js';
import { toPlainText, wrapText } from '../../ui/text.js';
import { timeText } from '../context-text.js';
import * as checkpointMessages from '../checkpoint-messages.js';
import * as messages from '../messages.js';
import { linesToPrint, workingFolder } from '../print.js';
import type {
  CreateRequest,
  ListRequest,
  PruneRequest,
  RestoreRequest,
  ShowRequest,
} from '../define/checkpoint.js';
import type { Options } from '../request.js';
import { findSession, onlySession, sessionNames } from '../session-argument.js';
import { folderText } from '../ps-columns.js';
import { table, widthOfOutput, type Column } from '../text.js';
import { shortId } from '../../core/shown-conversation.js';
import { jsonText, type Printable, type Styled } from '../../core/printable.js';

// `ctxwrap checkpoint …`: what the black box keeps.

/** What has happened to the file of a session. */
type SessionEvent = FileEvent & Pick<KeptSession, 'runtime' | 'session'>;

/** A copy with the session it belongs to. */
interface Entry {
  readonly session: KeptSession;
  readonly copy: KeptCopy;
}

const stateFolder = (): string => stateFolderOf(process.env, homeFolder(process.env));

const entriesOf = (sessions: readonly KeptSession[]): readonly Entry[] =>
  sessions
    .flatMap((session) => session.copies.map((copy) => ({ session, copy })))
    .toSorted((a, b) => a.copy.at - b.copy.at);

const lines = (texts: readonly Styled[]): Printable => linesToPrint(texts);

// JSON: one form for all, `ctxwrap.checkpoint/1`.

const jsonOf = (
  action: string,
  { values }: Options,
  entries: readonly Entry[],
  more: JsonRecord = {},
): Printable =>
  jsonText(
    {
      schema: 'ctxwrap.checkpoint/1',
      action,
      blackbox: isBlackBoxOn(values) ? 'on' : 'off',
      limitBytes: values['blackbox.limit'],
      ...more,
      checkpoints: entries.map(entryRecord),
    },
    2,
  );

const entryRecord = ({ session, copy }: Entry): JsonRecord => {
  const { runtime, session: id, cwd } = session;
  const { chunks: _, schema: __, kind, ...known } = { chunks: [], schema: '', ...copy };
  return { ...known, kind, runtime, session: id, cwd };
};

// list

const columns: readonly Column[] = [
  { title: 'ID', rank: 0 },
  { title: 'WHEN', rank: 2 },
  { title: 'AGENT', rank: 3 },
  { title: 'SESSION', rank: 5 },
  { title: 'WHAT', rank: 1, leastWidth: 16 },
  { title: 'SIZE', rank: 4, align: 'right' },
  { title: 'FOLDER', rank: 6, leastWidth: 11, cut: 'start' },
];

export const list = async (request: ListRequest): Promise<Printable> => {
  const all = await listKept(stateFolder());
  const sessions = all.filter((session) => request.target === undefined || isMeant(session, request.target));
  const entries = entriesOf(sessions);
  const usedBytes = all.reduce((sum, each) => sum + each.usedBytes, 0);
  const damaged = all.reduce((sum, each) => sum + each.damaged, 0);
  const events = sessions.flatMap(({ runtime, session, events: of }) =>
    of.map((event) => ({ runtime, session, ...event })),
  );
  if (request.json) return jsonOf('list', request.options, entries, { usedBytes, damaged, events });
  if (entries.length === 0 && request.target !== undefined) assertAgent(request.target, request.options);
  const { values } = request.options;
  const width = widthOfOutput();
  const state = isBlackBoxOn(values) ? 'on' : 'off: nothing new is copied';
  const room = `${formatBytes(usedBytes)} of ${formatBytes(values['blackbox.limit'])} used`;
  return lines([
    ...(entries.length > 0 ? table(columns, entries.map(rowOf), width) : [nothingText(request.target)]),
    '',
    ...eventLines(events, width),
    ...wrapText(`The black box is ${state}; ${room}.`, width),
    ...(damaged > 0 ? wrapText(`${count(damaged, 'record')} cannot be read.`, width) : []),
  ]);
};

const MOST_EVENTS = 5;

/** Recent changes to session files, for a user who missed them in the footer. */
const eventLines = (events: readonly SessionEvent[], width: number): readonly string[] => {
  const last = events.toSorted((a, b) => a.at - b.at).slice(-MOST_EVENTS);
  const rows = last.flatMap(({ at, fate, kept, runtime, session }) => {
    const before = kept === undefined ? 'no copy' : `kept: ${kept}`;
    const of = toPlainText(`${runtime} ${shortId(session)}`);
    return wrapText(`${timeText(at)}  ${of}  ${fateTexts[fate]} · ${before}`, width);
  });
  return rows.length > 0 ? [...rows, ''] : [];
};

const nothingText = (target: string | undefined): string =>
  target === undefined ? 'The black box is empty.' : `Nothing of ${target} is kept.`;

/** Throws for a word that is neither an agent nor a session: it may be a misspelled command. */
const assertAgent = (target: string, { configured }: Options): void => {
  if (!allAgents(configured?.runtimes).some(({ name }) => name === target))
    throw checkpointMessages.nothingKept(target);
};

const isMeant = ({ runtime, session }: KeptSession, target: string): boolean =>
  runtime === target || session.startsWith(target);

const rowOf = ({ session, copy }: Entry): readonly string[] => [
  copy.id,
  timeText(copy.at),
  toPlainText(session.runtime),
  toPlainText(shortId(session.session)),
  whatText(copy),
  formatBytes(copy.bytes),
  toPlainText(folderText(session.cwd, homeFolder(process.env))),
];

const reasons: Readonly<Record<CheckpointReason, string>> = {
  first: 'first seen',
  growing: 'growing',
  before: 'before compacting',
  compaction: 'compaction',
  asked: 'on request',
};

/** The kind of the copy, for the table. */
const whatText = (copy: KeptCopy): string => {
  if (copy.kind === 'file') return copy.isAlone ? 'whole file, only here' : 'whole file';
  return reasons[copy.why] + byText(copy);
};

const byText = ({ boundary }: CheckpointRecord): string => {
  const by = boundary?.initiator;
  return by === undefined ? '' : ` by ${by === 'user' ? 'you' : by}`;
};

const sentences: Readonly<Record<CheckpointReason, string>> = {
  first: 'a copy from when the file was first seen, because it could not be linked',
  growing: 'a copy made while the file was growing',
  before: 'a copy made before ctxwrap typed the compact command',
  compaction: 'the session file as it was before a compaction',
  asked: 'a copy that you requested',
};

const sentenceOf = (copy: KeptCopy): string => {
  if (copy.kind === 'checkpoint') return sentences[copy.why] + byText(copy);
  return copy.isAlone
    ? 'the session file itself; the agent no longer has it'
    : 'the session file itself, under a second name; the agent may still write to it';
};

// show

/** The copy with this id, or the newest one of the session that it names. */
const findEntry = async (target: string): Promise<Entry> => {
  const sessions = await listKept(stateFolder());
  const entries = entriesOf(sessions);
  const found = target === '' ? [] : entries.filter(({ copy }) => copy.id.startsWith(target));
  const [only, ...others] = found;
  if (only && others.length === 0) return only;
  if (only)
    throw checkpointMessages.severalCheckpoints(
      target,
      found.map(({ copy }) => copy.id),
    );
  const named = target === '' ? [] : sessions.filter(({ session }) => session.startsWith(target));
  if (named.length > 1)
    throw checkpointMessages.severalCheckpoints(
      target,
      named.map(({ session }) => session),
    );
  const copy = named[0] && newestCopy(named[0]);
  if (!named[0] || !copy) throw checkpointMessages.noCheckpoint(target);
  return { session: named[0], copy };
};

export const show = async (request: ShowRequest): Promise<Printable> => {
  const entry = await findEntry(request.target);
  const { session, copy } = entry;
  const events = session.events.filter(({ kept }) => kept === copy.id);
  if (request.json) return jsonOf('show', request.options, [entry], { events });
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['id', copy.id],
    ['what', sentenceOf(copy)],
    ['when', timeText(copy.at)],
    ['agent', session.runtime],
    ['session', session.session],
    ['folder', session.cwd],
    ['file', copy.path],
    ['size', `${formatBytes(copy.bytes)} (${copy.bytes} bytes)`],
    ...(copy.kind === 'checkpoint' ? checkpointRows(copy) : []),
    ...events.map(({ at, fate }) => ['event', `${timeText(at)}: ${fateTexts[fate]}`] as const),
  ];
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return lines([
    ...rows.flatMap(([name, text]) => (text === undefined ? [] : [name.padEnd(width) + toPlainText(text)])),
    '',
    `Save it as a file:    ctxwrap checkpoint restore ${copy.id} FILE`,
    `List its compactions: ctxwrap history ${copy.id}`,
  ]);
};

const fateTexts: Readonly<Record<FileFate, string>> = {
  replaced: 'file replaced by another',
  rewritten: 'file rewritten in place',
  shortened: 'file shortened in place',
  removed: 'file removed',
};

const MOST_DIRTY = 20;

const checkpointRows = ({
  boundary,
  reading,
  git,
  sha256,
}: CheckpointRecord): readonly (readonly [string, string | undefined])[] => {
  const tokens = (value: number | undefined): string => (value === undefined ? '?' : formatTokens(value));
  const dirty = git?.dirty.slice(0, MOST_DIRTY) ?? [];
  const more = (git?.dirty.length ?? 0) - dirty.length;
  return [
    [
      'compaction',
      boundary && `${timeText(boundary.at)}, ${tokens(boundary.preTokens)} → ${tokens(boundary.postTokens)}`,
    ],
    [
      'window',
      reading && `${tokens(reading.usedTokens)} of ${tokens(reading.windowTokens)} tokens, ${reading.source}`,
    ],
    [
      'git',
      git &&
        `${git.head ?? 'no commit'}, ${count(git.dirty.length, 'changed file')}${git.isCut ? ' and more' : ''}`,
    ],
    ...dirty.map((path) => ['', path] as const),
    ['', more > 0 ? `and ${more} more: --json` : undefined],
    ['sha256', sha256],
  ];
};

const count = (many: number, noun: string): string => `${many} ${noun}${many === 1 ? '' : 's'}`;

// create

export const create = async (request: CreateRequest): Promise<Printable> => {
  const { values } = request.options;
  if (!isBlackBoxOn(values)) throw checkpointMessages.blackBoxOff();
  const folder = stateFolder();
  const sessions = await listSessions(folder, Date.now());
  const { target } = request;
  const found =
    target === undefined
      ? onlySession(sessions, checkpointMessages.noRunningSession)
      : findSession(sessions, target);
  if (!found) throw messages.unknownSession(target ?? '', sessionNames(sessions));
  const { runtime, agentSessionId: session, logPath: path, cwd, reading } = found.record;
  if (session === undefined || path === undefined)
    throw checkpointMessages.noSessionFile(toPlainText(runtime));
  const place = { stateFolder: folder, runtime, session, cwd, path };
  const git = await readGit(cwd, process.env);
  const kept = {
    ...place,
    why: 'asked',
    source: path,
    mostBytes: values['blackbox.limit'],
    reading,
    git,
  } as const;
  const { checkpoint: made, isNew } = await keepCopy({ ...kept, now: Date.now() }).catch((error: unknown) => {
    throw checkpointMessages.copyFailed(path, systemReason(error));
  });
  if (isNew) await note('created', { session: { runtime, session }, copy: made });
  const entry: Entry = await findEntry(made.id);
  if (request.json) return jsonOf('create', request.options, [entry], { isNew });
  const size = formatBytes(made.bytes);
  return lines([isNew ? `kept ${made.id} (${size})` : `already kept: ${made.id} (${size})`]);
};

/** A line in the audit log; that it cannot be written stops nothing. */
const note = async (
  action: 'created' | 'restored' | 'removed',
  {
    session,
    copy,
  }: { readonly session: Pick<KeptSession, 'runtime' | 'session'>; readonly copy: { readonly id: string } },
): Promise<void> => {
  const audit = openAudit({ stateFolder: stateFolder(), onFailure: () => undefined });
  audit.append(checkpointLine({ ...session, action, id: copy.id, at: Date.now() }));
  await audit.flushed();
};

// restore

export const restore = async (request: RestoreRequest): Promise<Printable> => {
  const entry = await findEntry(request.target);
  const path = resolve(workingFolder(), request.path);
  const { session, copy } = entry;
  try {
    await restoreCopy(stateFolder(), session, copy, path);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw checkpointMessages.restoreExists(path);
    const about = errorCode(error) === undefined ? 'copy' : 'file';
    throw checkpointMessages.restoreFailed(copy.id, path, systemReason(error), about);
  }
  await note('restored', entry);
  if (request.json) return jsonOf('restore', request.options, [entry], { path });
  return lines([`${formatBytes(copy.bytes)} written to ${toPlainText(path)}`]);
};

// prune

export const prune = async (request: PruneRequest): Promise<Printable> => {
  const { olderThanMs, limitBytes, all, options } = request;
  const now = Date.now();
  const isPlain = olderThanMs === undefined && limitBytes === undefined && !all;
  const before = all ? Infinity : olderThanMs === undefined ? undefined : now - olderThanMs;
  const limit = isPlain ? options.values['blackbox.limit'] : limitBytes;
  const { removed, bytes } = await pruneBlackBox({
    stateFolder: stateFolder(),
    now,
    limitBytes: limit,
    before,
  }).catch((error: unknown) => {
    throw error instanceof UserError ? error : checkpointMessages.pruneFailed(systemReason(error));
  });
  for (const each of removed) await note('removed', each);
  const [was, is] = bytes;
  if (request.json)
    return jsonOf('prune', options, removed, { usedBytes: is, freedBytes: Math.max(0, was - is) });
  const freed = formatBytes(Math.max(0, was - is));
  return lines([
    `${removed.length === 1 ? '1 copy' : `${removed.length} copies`} removed, ${freed} freed, ${formatBytes(is)} left`,
  ]);
};
