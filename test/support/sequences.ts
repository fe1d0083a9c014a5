import fc from 'fast-check';

// Generated output of a program: everything that could move a cursor, a margin or a row, for a terminal of about 40 × 12. Without origin
// mode: a paint of the footer in the middle of a sequence resets some peculiarities of xterm.js.

const number = fc.oneof(
  fc.constant(''),
  fc.integer({ min: 0, max: 15 }).map(String),
  fc.constantFrom('40', '999', '70000'),
);
const csi = (finals: string): fc.Arbitrary<string> =>
  fc
    .tuple(number, number, fc.constantFrom(...finals))
    .map(([first, second, final]) => `\x1b[${first}${second === '' ? '' : `;${second}`}${final}`);

const text = fc.string({
  minLength: 1,
  maxLength: 60,
  unit: fc.constantFrom('a', 'b', ' ', 'Z', 'é', '漢', 'e\u0301', '─', '가'),
});
const controls = fc.constantFrom(...'\n\n\n\r\b\t\v\f\x0e\x0f', '\x1bD', '\x1bE', '\x1bM', '\x1bH');
const states = fc.oneof(
  fc.constantFrom('\x1b7', '\x1b8', '\x1b[s', '\x1b[u', '\x1b[?1048h', '\x1b[?1048l'),
  fc.constantFrom('\x1b[?7l', '\x1b[?7h', '\x1b[4h', '\x1b[4l', '\x1b[?25l'),
  fc.constantFrom('\x1b[?1049h', '\x1b[?1049l', '\x1b[?47h', '\x1b[?47l', '\x1b[?1047h', '\x1b[?1047l'),
  fc.constantFrom('\x1b[!p', '\x1b#8', '\x1b(0', '\x1b(B', '\x1b[31m', '\x1b[1;44m', '\x1b[m'),
);
const reports = fc.constantFrom('\x1b[6n', '\x1b[c', '\x1b[5n', '\x1b[18t', '\x1b[>c', '\x1bP$qr\x1b\\');
const strange = fc.constantFrom('\x1b]0;title\x07', '\x1b_apc\x1b\\', '\x1b[5\n;3H', '\x1b[99\x18', '\x1b[?');
/** invalid UTF-8 and 8-bit controls */
const invalid = fc.uint8Array({ minLength: 1, maxLength: 4, min: 0x80 });

const piece = fc.oneof(
  { weight: 5, arbitrary: text },
  { weight: 5, arbitrary: controls },
  { weight: 5, arbitrary: csi('HfdABCDEFGae') },
  { weight: 3, arbitrary: csi('JKLMP@XSTb') },
  { weight: 3, arbitrary: csi('r') },
  { weight: 4, arbitrary: states },
  { weight: 1, arbitrary: reports },
  { weight: 1, arbitrary: strange },
);

export const programOutput: fc.Arbitrary<Uint8Array> = fc
  .array(fc.oneof({ weight: 15, arbitrary: piece }, { weight: 1, arbitrary: invalid }), {
    minLength: 5,
    maxLength: 120,
  })
  .map((pieces) => Buffer.concat(pieces.map((each) => Buffer.from(each))));
