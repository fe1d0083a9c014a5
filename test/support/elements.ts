import fc from 'fast-check';

/* Elements of generated program output: text of all widths, movements, regions, modes, resets, reports. */

export const row = fc.integer({ min: 0, max: 14 });
const small = fc.oneof(fc.integer({ min: 0, max: 4 }), row, fc.constantFrom(999, 99999999));
export const optional = fc.oneof(small.map(String), fc.constant(''));
/** xterm.js looks for the next tab stop as often as it is told to, for a second where that is a hundred million times. */
const tabs = optional.map((count) => (count.length > 3 ? '999' : count));

export const text = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.string({
      minLength: 1,
      maxLength: 30,
      unit: fc.constantFrom('a', 'b', 'C', ' ', '.', 'Z'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.string({
      minLength: 1,
      maxLength: 14,
      unit: fc.constantFrom('é', '漢', '字', 'e\u0301', '─', 'ｱ', '가', 'x'),
    }),
  },
);
export const csi = (final: string, ...parameters: fc.Arbitrary<string | number>[]) =>
  fc.tuple(...parameters).map((values) => `\x1b[${values.join(';')}${final}`);

export const movement = fc.oneof(
  csi('H', optional, optional),
  csi('f', optional, optional),
  csi('d', optional),
  ...['A', 'B', 'C', 'D', 'E', 'F', 'G', '`', 'a', 'e'].map((final) => csi(final, optional)),
  ...['I', 'Z'].map((final) => csi(final, tabs)),
);
const editing = fc.oneof(
  ...['@', 'L', 'M', 'P', 'X', 'S', 'T'].map((final) => csi(final, fc.integer({ min: 0, max: 5 }))),
  csi('J', fc.integer({ min: 0, max: 3 })),
  csi('K', fc.integer({ min: 0, max: 2 })),
  csi('b', fc.integer({ min: 0, max: 40 })),
);
export const controls = fc.constantFrom(
  '\n',
  '\n',
  '\r',
  '\r\n',
  '\b',
  '\t',
  '\v',
  '\f',
  '\x1bD',
  '\x1bE',
  '\x1bM',
  '\x1bH',
  '\x00',
  '\x7f',
  '\x0e',
  '\x0f',
);
export const region = fc.oneof(csi('r', optional, optional), fc.constant('\x1b[r'), csi('r', row, row));
export const saving = fc.constantFrom('\x1b7', '\x1b8', '\x1b[s', '\x1b[u', '\x1b[?1048h', '\x1b[?1048l');
export const modes = fc.constantFrom(
  '\x1b[?6h',
  '\x1b[?6l',
  '\x1b[?7l',
  '\x1b[?7h',
  '\x1b[4h',
  '\x1b[4l',
  '\x1b[?25l',
  '\x1b[?25h',
  '\x1b[?1h',
  '\x1b[?2004h',
  '\x1b[?7;25h',
);
export const buffers = fc.constantFrom(
  '\x1b[?1049h',
  '\x1b[?1049l',
  '\x1b[?47h',
  '\x1b[?47l',
  '\x1b[?1047h',
  '\x1b[?1047l',
  '\x1b[?25;1049h',
);
export const resets = fc.constantFrom('\x1bc', '\x1b[!p', '\x1b#8');
export const colours = fc.constantFrom(
  '\x1b[m',
  '\x1b[0m',
  '\x1b[31m',
  '\x1b[1;44m',
  '\x1b[38;5;120m',
  '\x1b[48;2;1;2;3m',
  '\x1b[7m',
  '\x1b[27m',
  '\x1b(0',
  '\x1b(B',
);
const reports = fc.constantFrom(
  '\x1b[6n',
  '\x1b[c',
  '\x1b[5n',
  '\x1b[?6n',
  '\x1bP$qr\x1b\\',
  '\x1bP$qm\x1b\\',
);
const strange = fc.constantFrom(
  '\x1b]0;title\x07',
  '\x1b]2;ti\x1b\\',
  '\x1b_apc\x1b\\',
  '\x1bPdcs\x1b\\',
  '\x1b[5\n;3H',
  '\x1b[99\x18',
  '\x1b[3\x1b[2;2H',
  '\x1b[?',
  '\x1b',
  '\x1b[5:3H',
  '\xc2\x9b7;2H',
  '\x1b[1 q',
  '\x1b[>1u',
  '\x1b[2\x7f;5H',
);

export const element = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 5, arbitrary: controls },
  { weight: 5, arbitrary: movement },
  { weight: 3, arbitrary: editing },
  { weight: 4, arbitrary: region },
  { weight: 2, arbitrary: saving },
  { weight: 2, arbitrary: modes },
  { weight: 1, arbitrary: buffers },
  { weight: 1, arbitrary: resets },
  { weight: 2, arbitrary: colours },
  { weight: 1, arbitrary: reports },
  { weight: 1, arbitrary: strange },
);

/** CBT does nothing in xterm.js while its cursor waits at the right edge; in other terminals it moves. */
export const isNotBackTab = (sequence: string): boolean => !sequence.endsWith('Z');
