import type { Check, DoctorReport } from '../../core/doctor-report.js';
import type { Paint } from '../paint.js';
import { plain, widthOf, wrapped } from '../../ui/plain-text.js';

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

const checkLines = ({ name, status, text, fix }: Check, width: number, paint: Paint): readonly string[] => {
  const head = `${status.padEnd(4)} ${name.padEnd(NAME_COLUMNS)}`;
  const room = width - 2 - widthOf(head);
  const lines = [
    ...wrapped(plain(text), room),
    ...(fix === undefined ? [] : wrapped(`fix: ${plain(fix)}`, room)),
  ];
  const indent = ' '.repeat(widthOf(head) + 2);
  return lines.map((line, index) =>
    index > 0
      ? indent + line
      : `  ${paint.tier(tierOf[status], status.padEnd(4))} ${name.padEnd(NAME_COLUMNS)}${line}`,
  );
};
