import type { Millis } from './reading.js';

// Spans of time, and dates as text. The core has no clock and no Date object.

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
const FORM = 'dddd-dd-ddTdd:dd:dd'; // d for a digit
const [ZERO, NINE] = [0x30, 0x39] as const;

/** A UTC timestamp as all agents write it (`2026-11-21T08:37:12.289Z`) in milliseconds; undefined for anything else. */
export const parseIsoTime = (text: string): Millis | undefined => {
  // by characters: a session file has hundreds of thousands, and an expression takes ten times as long
  for (let at = 0; at < FORM.length; at++) {
    const isRight = FORM[at] === 'd' ? isDigit(text, at) : text[at] === FORM[at];
    if (!isRight) return undefined;
  }
  let end = FORM.length;
  let millis = 0;
  if (text[end] === '.') {
    for (end += 1; isDigit(text, end); end++)
      millis += digit(text, end) * (FRACTIONS[end - FORM.length - 1] ?? 0);
    if (end === FORM.length + 1) return undefined;
  }
  const zone = text.slice(end);
  if (zone !== 'Z' && zone !== '+00:00') return undefined;
  const [month, day] = [pairAt(text, 5), pairAt(text, 8)];
  if (month < 1 || month > 12 || day < 1 || day > 31) return undefined;
  const seconds = pairAt(text, 11) * 3600 + pairAt(text, 14) * 60 + pairAt(text, 17);
  return (
    daysFromCivil(pairAt(text, 0) * 100 + pairAt(text, 2), month, day) * DAY_MS + seconds * 1000 + millis
  );
};

const FRACTIONS = [100, 10, 1]; // milliseconds for each digit; further ones do not count

const digit = (text: string, at: number): number => text.charCodeAt(at) - ZERO;

const isDigit = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at);
  return unit >= ZERO && unit <= NINE;
};

const pairAt = (text: string, at: number): number => digit(text, at) * 10 + digit(text, at + 1);

const LAST_SECONDS = 1e11; // a larger number counts milliseconds

/** A moment as programs write it: seconds or milliseconds since the epoch, or a timestamp; undefined for anything else. */
export const parseMoment = (value: unknown): Millis | undefined => {
  if (typeof value === 'string') return parseIsoTime(value);
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) return undefined;
  return Math.round(value < LAST_SECONDS ? value * 1000 : value);
};

/** A time in the same form, with milliseconds. */
export const formatIsoTime = (at: Millis): string => {
  const ms = Math.round(at);
  const inDay = ((ms % DAY_MS) + DAY_MS) % DAY_MS;
  const seconds = Math.floor(inDay / 1000);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(':');
  return `${formatDay(ms)}T${clock}.${String(inDay % 1000).padStart(3, '0')}Z`;
};

/** The UTC date `offsetDays` days after a time, in the form of the agents' date folders: `2026/11/21`. */
export const dateFolder = (at: Millis, offsetDays: number): string => {
  const { year, month, day } = civilFromDays(Math.floor(at / DAY_MS) + offsetDays);
  return `${year}/${two(month)}/${two(day)}`;
};

/** The UTC date of a time: `2026-11-21`. */
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
