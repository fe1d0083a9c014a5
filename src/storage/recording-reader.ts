import type { Stats } from 'node:fs';
import { pipeline } from 'node:stream';
import { constants, createGunzip } from 'node:zlib';
import { UserError } from '../core/errors.js';
import { getCount, parseJson, parseRecord, getText, type JsonRecord } from '../core/json.js';
import { present } from '../core/present.js';
import type { Millis } from '../core/reading.js';
import { systemReason } from './errors.js';
import { openRegular } from './files.js';
import { diskBytesOf, withinLimits } from './session-store.js';
import { makeLineSplitter } from './tail.js';

// Reads asciicast v2, also gzipped, one line at a time: https://docs.asciinema.org/manual/asciicast/v2/

/** One event of a recording; `at` is in milliseconds since its start. */
export type RecordedEvent =
  | { readonly at: Millis; readonly type: 'output'; readonly text: string }
  | { readonly at: Millis; readonly type: 'input'; readonly text: string }
  | { readonly at: Millis; readonly type: 'resize'; readonly columns: number; readonly rows: number };

/** The first line of a recording. */
export interface RecordingHeader {
  readonly columns: number;
  readonly rows: number;
  /** start time, to the second; absent in many recordings */
  readonly startedAt?: Millis;
  readonly command?: string;
  readonly title?: string;
}

export interface RecordingFile {
  readonly header: RecordingHeader;
  /** events in file order, with times that never decrease; can be read once */
  readonly events: () => AsyncGenerator<RecordedEvent>;
  /** problems of the file that could be skipped; complete after its events are read */
  readonly warnings: () => readonly string[];
  /** call it if the events are not read to the end */
  readonly close: () => Promise<void>;
}

/** Opens a recording and reads its first line; throws a UserError with the reason if that fails. */
export const openRecordingFile = async (path: string): Promise<RecordingFile> => {
  const lines = textLines(await openPossiblyZipped(path), path);
  const close = async (): Promise<void> => void (await lines.return(undefined));
  const first = await lines.next();
  if (first.done === true) throw unreadable(path, 'it is empty');
  try {
    const warnings: string[] = [];
    return {
      header: readHeader(first.value, path),
      events: () => readEvents(lines, path, (warn) => warnings.push(warn)),
      warnings: () => warnings,
      close,
    };
  } catch (error) {
    await close(); // a file that is left open is an error in Node 25
    throw error;
  }
};

/** The lines of a text file, one in memory at a time; throws a UserError if it cannot be read. `what` names the file in the message. */
export async function* readLines(path: string, what: string): AsyncGenerator<string> {
  try {
    const file = await openRegular(path);
    yield* linesOf(bounded(file.createReadStream(), await file.stat()));
  } catch (error) {
    throw new UserError(`cannot read the ${what} "${path}": ${systemReason(error)}`, {
      exitCode: 2,
      hint: HINT,
    });
  }
}

const HINT = 'name an existing file that you can read';
const MAKE_HINT = 'make a recording with: ctxwrap --record session.cast claude';
const MAX_CELLS = 1_000; // columns or rows; no terminal is larger, and the screen model must hold them
const LONGEST_S = 1e9; // 30 years; larger times are invalid
const SIZE = /^(\d{1,5})x(\d{1,5})$/;

const unreadable = (path: string, reason: string, hint = MAKE_HINT): UserError =>
  new UserError(`cannot replay "${path}": ${reason}`, { exitCode: 2, hint });

const TIMES_LONGER = 20; // than a session file: a recording is drawn on a screen model

const bounded = (bytes: AsyncIterable<Buffer>, stats: Stats): AsyncGenerator<Buffer> =>
  withinLimits(bytes, diskBytesOf(stats), { timesLonger: TIMES_LONGER });

const openPossiblyZipped = async (path: string): Promise<AsyncIterable<Buffer>> => {
  try {
    const file = await openRegular(path); // a regular file, since it is read twice
    const { bytesRead, buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    const stats = await file.stat();
    const plain = file.createReadStream({ start: 0 });
    const isZipped = bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
    if (!isZipped) return bounded(plain, stats);
    // Z_SYNC_FLUSH reads what there is of a truncated file; errors of either stream appear where the lines are read
    const unpacked = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
    return bounded(
      pipeline(plain, unpacked, () => undefined),
      stats,
    );
  } catch (error) {
    throw unreadable(path, systemReason(error), HINT);
  }
};

async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let complete: string[] = [];
  const lines = makeLineSplitter((line) => complete.push(line));
  for await (const chunk of bytes) {
    lines.push(chunk);
    yield* complete;
    complete = [];
  }
  lines.push(Buffer.from('\n')); // the last line may have no newline
  yield* complete;
}

/** The lines that are not blank. */
async function* textLines(bytes: AsyncIterable<Buffer>, path: string): AsyncGenerator<string> {
  try {
    for await (const line of linesOf(bytes)) if (line.trim() !== '') yield line.replace(/^\uFEFF/, '');
  } catch (error) {
    throw unreadable(path, systemReason(error), HINT);
  }
}

const readHeader = (line: string, path: string): RecordingHeader => {
  const header = parseRecord(line);
  const version = header?.['version'];
  if (header === undefined || version === undefined)
    throw unreadable(path, 'its first line is not the header of an asciicast recording');
  if (version !== 2) {
    const convert = 'convert it with: asciinema convert -f asciicast-v2 FILE NEW-FILE';
    throw unreadable(
      path,
      `it is asciicast version ${JSON.stringify(version)}, and only 2 can be read`,
      convert,
    );
  }
  const columns = cells(header['width']);
  const rows = cells(header['height']);
  if (columns === undefined || rows === undefined)
    throw unreadable(path, 'line 1 gives no size: width and height must be whole numbers from 1 to 1000');
  return { columns, rows, ...optionalFields(header) };
};

const optionalFields = (header: JsonRecord): Omit<RecordingHeader, 'columns' | 'rows'> => {
  const seconds = getCount(header, 'timestamp');
  const command = getText(header, 'command');
  const title = getText(header, 'title');
  return {
    ...(seconds === undefined ? {} : { startedAt: seconds * 1000 }),
    ...present({ command, title }),
  };
};

const cells = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_CELLS
    ? value
    : undefined;

async function* readEvents(
  lines: AsyncGenerator<string>,
  path: string,
  warn: (text: string) => void,
): AsyncGenerator<RecordedEvent> {
  let number = 1;
  let at = 0;
  let badLine: number | undefined;
  for await (const line of lines) {
    number += 1;
    if (badLine !== undefined)
      throw unreadable(path, `line ${badLine} is not an event [seconds, kind, text]`);
    const appendEvent = readEvent(line);
    if (appendEvent === undefined) badLine = number; // allowed only as the last line, of a truncated recording
    else if (appendEvent !== 'other') {
      at = Math.max(at, appendEvent.at);
      yield { ...appendEvent, at };
    }
  }
  if (badLine !== undefined)
    warn(`the recording was cut off: line ${badLine}, its last one, is not complete`);
}

/** `other` is an event without effect on the screen, such as a marker. */
const readEvent = (line: string): RecordedEvent | 'other' | undefined => {
  const [seconds, kind, text] = parseList(line);
  if (
    typeof seconds !== 'number' ||
    !(seconds >= 0 && seconds <= LONGEST_S) ||
    typeof kind !== 'string' ||
    typeof text !== 'string'
  )
    return undefined;
  const at = seconds * 1000;
  if (kind === 'o') return { at, type: 'output', text };
  if (kind === 'i') return { at, type: 'input', text };
  if (kind !== 'r') return 'other';
  const [, columns, rows] = (SIZE.exec(text) ?? []).map(Number);
  const size = { columns: cells(columns), rows: cells(rows) };
  if (size.columns === undefined || size.rows === undefined) return undefined;
  return { at, type: 'resize', columns: size.columns, rows: size.rows };
};

const parseList = (line: string): readonly unknown[] => {
  const value = parseJson(line);
  return Array.isArray(value) ? value : [];
};
