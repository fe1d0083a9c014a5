import type { Check, DoctorReport } from '../../core/doctor-report.js';
import type { Paint } from '../paint.js';
import { plain, wrapped } from '../../ui/plain-text.js';

const NAME_COLUMNS = 15;

export const doctorText = (
  { version, sections }: DoctorReport,
  { width, paint }: { readonly width: number; readonly paint: Paint },
): readonly string[] => [
  paint.bold(`ctxwrap ${version}`),
  ...sections.flatMap(({ title, checks }) => [
    '',
    paint.bold(plain(title)),
    ...checks.flatMap((check) => checkLines(check, width, paint)),
  ]),
];

const tierOf = { ok: 'safe', warn: 'warn', fail: 'hard' } as const;

const LEAST_ROOM = 30; // columns beside the name; with fewer the text stands below it
const BELOW = 4;

// A command to be copied is one line, and no path is cut: the terminal breaks what is too long for it.
const checkLines = ({ name, status, text, fix }: Check, width: number, paint: Paint): readonly string[] => {
  const head = `  ${paint.tier(tierOf[status], status.padEnd(4))} ${name.padEnd(NAME_COLUMNS)}`;
  const beside = 2 + 4 + 1 + NAME_COLUMNS;
  const isBeside = width - beside >= LEAST_ROOM;
  const left = isBeside ? beside : BELOW;
  const body = [
    ...wrapped(plain(text), width - left, 'whole'),
    ...(fix === undefined ? [] : [`fix: ${plain(fix)}`]),
  ].map((line) => ' '.repeat(left) + line);
  const [first = '', ...rest] = body;
  return isBeside ? [head + first.trimStart(), ...rest] : [head.trimEnd(), ...body];
};
