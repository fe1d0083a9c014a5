import type { Random } from './random.js';

/*
 * What programs can write, as ECMA-48, the VT510 manual and xterm's ctlseqs have it, for a terminal of about 30 × 10. Each topic makes
 * one element, as Latin-1: a character is a byte.
 */

type Make = (random: Random) => string;

const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
const oneOf =
  (...choices: readonly string[]): Make =>
  ({ one }) =>
    one(choices);

/** A parameter: absent, small, about the size of the screen, far beyond it. */
const parameter: Make = ({ one, between, chance }) => {
  if (chance(0.15)) return '';
  if (chance(0.4)) return String(between(0, 4));
  return chance(0.85) ? String(between(1, 34)) : one(['40', '99', '999', '9999', '65535', '99999']);
};
const few: Make = ({ between, chance }) => (chance(0.2) ? '' : String(between(0, 6)));

const csi =
  (finals: readonly string[], counts: readonly number[], each: Make = parameter): Make =>
  (random) => {
    const parameters = Array.from({ length: random.one(counts) }, () => each(random)).join(';');
    return `\x1b[${parameters}${random.one(finals)}`;
  };

const privateMode =
  (...modes: readonly number[]): Make =>
  ({ one, chance }) =>
    `\x1b[?${one(modes)}${chance(0.5) ? 'h' : 'l'}`;

const words = ['a', 'word', 'two words', '0123456789', 'The quick brown fox jumps over it', '~', ' '];
const wide = ['漢', '字字', 'a漢b', '가나', '😀', 'ｱ', '—é—', '┌──┐'].map(utf8);
const combining = ['e\u0301', 'a\u0308\u0301', '漢\u0301', 'x\u0302y\u0303'].map(utf8);

export const topics = {
  text: ({ one, chance }) => one(chance(0.7) ? words : wide),
  combining: oneOf(...combining),
  controls: oneOf(
    '\n',
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
    '\0',
    '\x07',
    '\x7f',
    '\x1c',
  ),
  position: csi(['H', 'H', 'f', 'd', 'G', '`'], [0, 1, 2, 2]),
  movement: csi(['A', 'B', 'C', 'D', 'E', 'F', 'a', 'e', 'I'], [0, 1, 1]),
  backTab: csi(['Z'], [0, 1]),
  scrolling: csi(['S', 'T', 'L', 'M', ' @', ' A', "'}", "'~"], [0, 1], few),
  editing: (random) =>
    random.one([
      csi(['@', 'P', 'X'], [0, 1], few),
      oneOf(
        '\x1b[J',
        '\x1b[2J',
        '\r\x1b[1J',
        '\x1b[K',
        '\x1b[1K',
        '\x1b[2K',
        '\x1b[?J',
        '\x1b[?2J',
        '\x1b[?K',
        '\x1b[1"q',
        '\x1b["q',
      ),
    ])(random),
  history: oneOf('\x1b[3J', '\x1b[H\x1b[2J\x1b[3J'),
  repeat: csi(['b'], [0, 1], ({ between, one, chance }) =>
    chance(0.8) ? String(between(0, 70)) : one(['0', '500', '3000']),
  ),
  region: ({ one, between, chance }) => {
    if (chance(0.2)) return '\x1b[r';
    const top = between(1, 9);
    return chance(0.7)
      ? `\x1b[${top};${top + between(1, 6)}r`
      : `\x1b[${one(['', '0', '1', '99'])};${between(0, 14)}r`;
  },
  origin: privateMode(6),
  autowrap: privateMode(7),
  insert: oneOf('\x1b[4h', '\x1b[4l'),
  newLine: oneOf('\x1b[20h', '\x1b[20l'),
  reverseWrap: privateMode(45, 1045),
  otherModes: (random) =>
    random.one([
      privateMode(1, 5, 12, 25, 66, 1000, 1002, 1003, 1004, 1006, 2004, 2026, 2031),
      oneOf(
        '\x1b=',
        '\x1b>',
        '\x1b[>1u',
        '\x1b[<u',
        '\x1b[=1;1u',
        '\x1b[>4;1m',
        '\x1b[2 q',
        '\x1b[?25;1000h',
      ),
    ])(random),
  rendition: oneOf(
    '\x1b[m',
    '\x1b[0m',
    '\x1b[31m',
    '\x1b[1;44m',
    '\x1b[38;5;120m',
    '\x1b[48;2;1;2;3m',
    '\x1b[7m',
    '\x1b[27m',
    '\x1b[4:3m',
    '\x1b[0;1;3;9m',
  ),
  saving: oneOf('\x1b7', '\x1b7', '\x1b8', '\x1b8', '\x1b[u', '\x1b[?1048h', '\x1b[?1048l'),
  savingOrMargins: (random) => random.one([oneOf('\x1b[s'), csi(['s'], [0, 2])])(random),
  sideMargins: (random) =>
    random.chance(0.3)
      ? privateMode(69)(random)
      : random.chance(0.3)
        ? '\x1b[?69h\x1b[5;20s'
        : csi(['s'], [0, 2])(random),
  memoryLock: oneOf('\x1bl', '\x1bl', '\x1bm'),
  softReset: oneOf('\x1b[!p', '\x1b[!p', '\x1b[61"p', '\x1b[62;1"p', '\x1b[64"p'),
  charsets: oneOf(
    '\x1b(0',
    '\x1b(B',
    '\x1b)0',
    '\x1b)B',
    '\x1b*0',
    '\x1b+0',
    '\x1b(A',
    '\x1b-A',
    '\x1b.A',
    '\x0e',
    '\x0f',
    '\x1bn',
    '\x1bo',
    '\x1b|',
    '\x1b}',
    '\x1b~',
    '\x1b%G',
    '\x1b%@',
    '\x1bN',
    '\x1bO',
    'qxlmk',
  ),
  rectangles: (random) => {
    const four = [0, 1, 2, 3].map(() => parameter(random)).join(';');
    return random.one([
      `\x1b[88;${four}$x`,
      `\x1b[${four}$z`,
      `\x1b[${four}\${`,
      `\x1b[${four};1;${four};1$v`,
      `\x1b[${four};1$r`,
      `\x1b[${four};7$t`,
      '\x1b[2*x',
      `\x1b[${parameter(random)}$x`,
      '\x1b[$z',
    ]);
  },
  buffers: oneOf(
    '\x1b[?1049h',
    '\x1b[?1049l',
    '\x1b[?47h',
    '\x1b[?47l',
    '\x1b[?1047h',
    '\x1b[?1047l',
    '\x1b[?25;1049h',
  ),
  tabs: oneOf('\x1bH', '\x1b[g', '\x1b[3g', '\x1b[?5W', '\t', '\t', '\x1b[2I'),
  resets: oneOf('\x1bc', '\x1b#8'),
  columnMode: privateMode(3, 40, 95),
  vt52: oneOf('\x1b[?2l', '\x1b[?2h', '\x1b<', '\x1bY%(', '\x1bI', '\x1bA'),
  modeSaving: oneOf(
    '\x1b[?6s',
    '\x1b[?7s',
    '\x1b[?69s',
    '\x1b[?1049s',
    '\x1b[?6r',
    '\x1b[?7r',
    '\x1b[?69r',
    '\x1b[?1049r',
  ),
  strings: oneOf(
    '\x1b]0;title\x07',
    '\x1b]2;t\x1b\\',

    '\x1bPabc\x1b\\',
    '\x1b_apc\n\x1b\\',
    '\x1b^pm\x1b\\',
    '\x1bXsos\r\x1b\\',
    utf8('\x1b]2;漢\x07'),
    '\x1b]9;4;1;5\x07',
    '\x1b]52;c;YQ==\x07',
    '\x1bkscreen\x1b\\',
  ),
  links: oneOf('\x1b]8;;http://a/\x1b\\', '\x1b]8;;\x07', utf8('\x1b]8;id=1;http://é/\x1b\\')),
  openStrings: oneOf(
    '\x1b]0;ti',
    '\x1bPdcs',
    '\x1b_apc',
    '\x1bXs\x18',
    '\x1b]2;x\x1b[5;5H',
    '\x1bPq\n\n\x1bM',
    '\x07',
    '\x1b\\',
    '\x18',
    utf8('\x1b_é'),
    utf8('\x1bPé'),
    '\x1b]2;\xc2\x85',
    '\x1bPq\xc2\x84',
    '\x1b^\xff',
  ),
  c1: oneOf(
    '\xc2\x84',
    '\xc2\x85',
    '\xc2\x88',
    '\xc2\x8d',
    '\xc2\x9b5;5H',
    '\xc2\x9bB',
    '\xc2\x90q\xc2\x9c',
    '\xc2\x9d0;t\xc2\x9c',
    '\xc2\x80',
    '\xc2\x99',
    '\xc2\x96',
  ),
  broken: oneOf(
    '\xff',
    '\xc3',
    '\xe6\xbc',
    '\xf0\x9f',
    '\x80',
    '\x9b',
    '\xc0\xaf',
    '\xed\xa0\x80',
    '\x1b',
    '\x1b[',
    '\x1b[5',
    '\x1b[?',
    '\x1b(',
    '\x1b[99\x18',
    '\x1b[5\n;3H',
    '\x1b[3\x1b[2;2H',
    '\x1b[5:3H',
    '\x1b[2\x7f;5H',
    '\x1b[5\xff;2H',
    '\x1b[5\xc3\xa9',
    '\x1b[1 2H',
    '\x1b[5?H',
    '\x1b[!!p',
    '\x1b[;H',
    `\x1b[${'1;'.repeat(40)}H`,
    '\x1b[00000000000000000009B',
    '\x1b[99999999999999999999;1H',
    '\x1b[-5B',
    '\x1b[5',
    '\x1b#',
    '\x1b##8',
    '\x1b[?5$',
  ),
  reports: oneOf(
    '\x1b[6n',
    '\x1b[?6n',
    '\x1b[5n',
    '\x1b[c',
    '\x1b[>c',
    '\x1b[?6$p',
    '\x1b[?7$p',
    '\x1b[4$p',
    '\x1bP$qr\x1b\\',
    '\x1bP$qm\x1b\\',
    '\x1bP$q"q\x1b\\',
  ),
  windows: oneOf(
    '\x1b[8;20;40t',
    '\x1b[8;;t',
    '\x1b[30t',
    '\x1b[30*|',
    '\x1b[22;0t',
    '\x1b[23;0t',
    '\x1b[1$~',
    '\x1b[1$}',
  ),
} as const satisfies Readonly<Record<string, Make>>;

export type Topic = keyof typeof topics;

export const allTopics = Object.keys(topics) as readonly Topic[];
