import { pipeline, type Readable } from 'node:stream';
import { constants, createGunzip } from 'node:zlib';
import { countAt, parseRecord, textAt, type JsonRecord, UserError } from '../core/json.js';
import type { Millis } from '../core/reading.js';
import { reasonOf } from './errors.js';
import { openRegular } from './files.js';
import { lineSplitter } from './tail.js';

// Reads asciicast v2, also gzipped, one line at a time: https://docs.asciinema.org/manual/asciicast/v2/

/** One event of a recording; `at` is in milliseconds since its start. */
export type RecordedEvent =
  | { readonly at: Millis; readonly type: 'output'; readonly text: string }
  | { readonly at: Millis; readonly type: 'input'; readonly text: string }
  | { readonly at: Millis; readonly type: 'resize'; readonly columns: number; readonly rows: number };

/** What the first line of a recording says. */
export interface RecordingHeader {
  readonly columns: number;
  readonly rows: number;
  /** when it was started, to the second; many recordings do not say */
  readonly startedAt?: Millis;
  readonly command?: string;
  readonly title?: string;
}

export interface RecordingFile {
  readonly header: RecordingHeader;
  /** in the order of the file, times never going back; to be read once */
  readonly events: () => AsyncGenerator<RecordedEvent>;
  /** what was wrong with the file and did no harm, once its events are read */
  readonly notes: () => readonly string[];
  /** for whoever does not read its events to their end */
  readonly close: () => Promise<void>;
}

/** Opens a recording and reads its first line; throws a UserError that says what is wrong with the file. */
export const openRecordingFile = async (path: string): Promise<RecordingFile> => {
  const lines = textLines(await openPossiblyZipped(path), path);
  const first = await lines.next();
  if (first.done === true) throw unreadable(path, 'it is empty');
  const header = readHeader(first.value, path);
  const notes: string[] = [];
  return {
    header,
    events: () => readEvents(lines, path, (note) => notes.push(note)),
    notes: () => notes,
    close: async () => void (await lines.return(undefined)),
  };
};

/** The lines of a text file, one in memory at a time; throws a UserError if it cannot be read. `what` it is goes into the message. */
export async function* readLines(path: string, what: string): AsyncGenerator<string> {
  try {
    yield* linesOf((await openRegular(path)).createReadStream());
  } catch (error) {
    throw new UserError(`cannot read the ${what} "${path}": ${reasonOf(error)}`, { exitCode: 2, hint: HINT });
  }
}

const HINT = 'name a file that exists and that you may read';
const MAKE_HINT = 'make a recording with: ctxwrap --record session.cast claude';
const MAX_CELLS = 1_000; // columns or rows; no terminal is larger, and the screen model has to hold them
const LONGEST_S = 1e9; // 30 years; the times of a longer one are no times
const SIZE = /^(\d{1,5})x(\d{1,5})$/;

const unreadable = (path: string, reason: string, hint = MAKE_HINT): UserError =>
  new UserError(`cannot replay "${path}": ${reason}`, { exitCode: 2, hint });

const openPossiblyZipped = async (path: string): Promise<Readable> => {
  try {
    const file = await openRegular(path); // it is read more than once, and a pipe can only be read once
    const { bytesRead, buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    const plain = file.createReadStream({ start: 0 });
    const isZipped = bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
    if (!isZipped) return plain;
    // what there is of a file that breaks off is read; an error of either stream comes out where the lines are read
    return pipeline(plain, createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }), () => undefined);
  } catch (error) {
    throw unreadable(path, reasonOf(error), HINT);
  }
};

async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let complete: string[] = [];
  const lines = lineSplitter((line) => complete.push(line));
  for await (const chunk of bytes) {
    lines.push(chunk);
    yield* complete;
    complete = [];
  }
  lines.push(Buffer.from('\n')); // the last line may have no end
  yield* complete;
}

/** The lines that say something. */
async function* textLines(bytes: Readable, path: string): AsyncGenerator<string> {
  try {
    for await (const line of linesOf(bytes)) if (line.trim() !== '') yield line.replace(/^\uFEFF/, '');
  } catch (error) {
    throw unreadable(path, reasonOf(error), HINT);
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
  return { columns, rows, ...origin(header) };
};

const origin = (header: JsonRecord): Omit<RecordingHeader, 'columns' | 'rows'> => {
  const seconds = countAt(header, 'timestamp');
  const command = textAt(header, 'command');
  const title = textAt(header, 'title');
  return {
    ...(seconds === undefined ? {} : { startedAt: seconds * 1000 }),
    ...(command === undefined ? {} : { command }),
    ...(title === undefined ? {} : { title }),
  };
};

const cells = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_CELLS
    ? value
    : undefined;

async function* readEvents(
  lines: AsyncGenerator<string>,
  path: string,
  note: (text: string) => void,
): AsyncGenerator<RecordedEvent> {
  let number = 1;
  let at = 0;
  let bad: number | undefined;
  for await (const line of lines) {
    number += 1;
    if (bad !== undefined) throw unreadable(path, `line ${bad} is not an event [seconds, kind, text]`);
    const event = readEvent(line);
    if (event === undefined) bad = number; // only a recording that was cut off ends with such a line
    else if (event !== 'other') {
      at = Math.max(at, event.at);
      yield { ...event, at };
    }
  }
  if (bad !== undefined) note(`the recording was cut off: line ${bad}, its last one, is not complete`);
}

/** `other` is an event that says nothing about the screen, such as a mark. */
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
  try {
    const value: unknown = JSON.parse(line);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
};
