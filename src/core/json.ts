import type { Millis } from './reading.js';

// The door for JSON written by others: a value of an unexpected shape is undefined, never an exception.

/** A JSON object whose fields are not known yet. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object in a text; undefined for half-written lines and for anything that is not an object. */
export const parseRecord = (text: string): JsonRecord | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

export const getRecord = (from: unknown, key: string): JsonRecord | undefined => {
  const value = isRecord(from) ? from[key] : undefined;
  return isRecord(value) ? value : undefined;
};

export const getList = (from: unknown, key: string): readonly unknown[] => {
  const value = isRecord(from) ? from[key] : undefined;
  return Array.isArray(value) ? value : [];
};

export const getText = (from: unknown, key: string): string | undefined => {
  const value = isRecord(from) ? from[key] : undefined;
  return typeof value === 'string' ? value : undefined;
};

/** A count: a finite number that is not negative. */
export const getCount = (from: unknown, key: string): number | undefined => {
  const value = isRecord(from) ? from[key] : undefined;
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
};

// The core has no clock and no Date: what the agents write as text becomes a number here.

const DAY_MS = 86_400_000;
const ISO = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,3}))?\d*(?:Z|\+00:00)$/;

/** A UTC timestamp as all agents write it (`2026-11-21T08:37:12.289Z`) in milliseconds; undefined for anything else. */
export const parseIsoTime = (text: string): Millis | undefined => {
  const found = ISO.exec(text);
  if (!found) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > 31) return undefined;
  const clock = (hour * 3600 + minute * 60 + second) * 1000 + Number((found[7] ?? '').padEnd(3, '0'));
  return daysFromCivil(year, month, day) * DAY_MS + clock;
};

/** A moment as that text, with milliseconds. */
export const formatIsoTime = (at: Millis): string => {
  const ms = Math.round(at);
  const inDay = ((ms % DAY_MS) + DAY_MS) % DAY_MS;
  const seconds = Math.floor(inDay / 1000);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(':');
  return `${formatDay(ms)}T${clock}.${String(inDay % 1000).padStart(3, '0')}Z`;
};

/** The UTC date of a moment and of `offsetDays` days away from it, as the agents name their date folders: `2026/11/21`. */
export const dateFolder = (at: Millis, offsetDays: number): string => {
  const { year, month, day } = civilFromDays(Math.floor(at / DAY_MS) + offsetDays);
  return `${year}/${two(month)}/${two(day)}`;
};

/** The UTC date of a moment: `2026-11-21`. */
export const formatDay = (at: Millis): string => dateFolder(at, 0).replaceAll('/', '-');

const two = (value: number): string => String(value).padStart(2, '0');

// Days since 1970-01-01 of a Gregorian date and back, counted in 400-year eras of 146 097 days
// with the year starting in March, so that the leap day comes last.
const daysFromCivil = (year: number, month: number, day: number): number => {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return (
    era * 146_097 +
    yearOfEra * 365 +
    Math.floor(yearOfEra / 4) -
    Math.floor(yearOfEra / 100) +
    dayOfYear -
    719_468
  );
};

const civilFromDays = (days: number): { year: number; month: number; day: number } => {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leaps = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
};

/** A text as one line of at most so many characters, without anything that a terminal or a prompt could take for more than text. */
export const toOneLine = (text: string, mostCharacters: number): string => {
  const line = text
    .replace(/[\p{Cf}\p{Cs}]/gu, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  // by characters: half of one would be no text
  return line.length <= mostCharacters ? line : [...line].slice(0, mostCharacters).join('').trim();
};

/** A text as one word of any POSIX shell, in quotes where it needs them: the name of a folder may hold what a shell would run. */
export const quotePosix = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

const PLAIN = /^[\w./-]+$/;

/**
 * The same for a line that a person copies: what cannot be seen, and blanks that a terminal or a line of ours would run together, is
 * written byte by byte, as bash and zsh understand it in every locale.
 */
export const quoteForCopying = (text: string): string => {
  if (!UNSEEN.test(text)) return quotePosix(text);
  const escaped = text.replace(/[\\']/g, String.raw`\$&`).replace(new RegExp(UNSEEN, 'gu'), bytesOf);
  return `$'${escaped}'`;
};

const UNSEEN = /[^\P{C}]|[^\P{Z} ]|^ | (?= )| $|[\u115f\u1160\u2800\u3164\uffa0]/u;

const bytesOf = (found: string): string =>
  Array.from(new TextEncoder().encode(found), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');

/**
 * An error the user can do something about: what is wrong and what was given (message), the command that fixes it (hint).
 * Only cli/main.ts prints it and sets the exit code.
 */
export class UserError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: number;

  constructor(message: string, options: { readonly exitCode: number; readonly hint?: string }) {
    super(message);
    this.name = 'UserError';
    this.hint = options.hint;
    this.exitCode = options.exitCode;
  }
}

/** What went wrong, in the error's own words. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The same with where it happened, for the log. */
export const errorStack = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

/** The system's code of a failed call: `ENOENT`. */
export const errorCode = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

// What the agent is asked to keep is typed into its prompt, so it must be nothing but text.

/** In characters. */
export const MAX_FOCUS_LENGTH = 200;

/** The text as it may be typed behind a command; undefined when nothing is left of it. */
export const cleanFocus = (text: string): string | undefined => {
  // composed, so that what the prompt shows can be compared with what was typed
  const plain = toOneLine(text, Infinity).normalize('NFC').replaceAll('@', ' '); // which opens a list of files
  const line = toOneLine(plain, MAX_FOCUS_LENGTH).replace(/[\\\s]+$/, ''); // a backslash makes a line break of Enter
  return line === '' ? undefined : line;
};

/** A text without anything that a terminal could take for more than text; its blanks stay as they are. */
export const stripControls = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '\ufffd');
