// What the stream filter costs for output that is made to be costly: milliseconds for 1 MB of it, and bytes out for each byte in.
import { importBundle } from './bundle.js';

const [COLUMNS, ROWS] = [120, 39];
const SIZE = 200_000; // bytes of each case
const CHUNKS = [1, 4095, 65_536]; // bytes
const PATIENCE_MS = 8000;

// The filter is inside the bundle of the program; a bundle of its own lets it be called alone.
const SOURCE = `
export { makeGrid } from './src/terminal/filter/grid.js';
export { makeStreamFilter } from './src/terminal/filter/filter.js';
`;

const filled = (beginning, part) =>
  Buffer.from(beginning + part.repeat(Math.ceil(SIZE / part.length)), 'latin1').subarray(0, SIZE);

const cases = {
  letters: filled('', 'the quick brown fox jumps over the lazy dog\r\n'),
  'controls in one sequence': filled('\x1b[', '\x01'),
  'controls and digits in one sequence': filled('\x1b[', '0\x01'),
  'a control in each sequence': filled('', '\x1b[1;\x01'),
  'a line feed in each sequence': filled('', '\x1b[1\n;1H'),
  'bytes that are no UTF-8 in one sequence': filled('\x1b[', '\xff'),
  'such a byte in each sequence': filled('', '\x1b[3\xff1m'),
  'a character in each sequence': filled('', '\x1b[3\xc3\xa9'),
  'nothing but ESC': filled('', '\x1b'),
  'a sequence without an end': filled('\x1b[', '0;'),
  'a string without an end': filled('\x1b]0;', 'a'),
  'a string of first halves of ST': filled('\x1b]0;', '\xc2'),
  'bytes that are no UTF-8 in a string': filled('\x1b_', '\xff'),
  'C1 controls in a title': filled('\x1b]0;', '\xc2\x85'),
  'REP in the scroll region': filled('', 'x\x1b[65535b'),
  'REP below the scroll region': filled('\x1b[5;10r\x1b[39;1H', 'x\x1b[65535b'),
  'line feeds below the scroll region': filled('\x1b[5;10r\x1b[39;1H', '\n'),
  'wraps below the scroll region': filled('\x1b[5;10r\x1b[39;1H', 'abcdefgh'),
  'SGR of many parameters': filled('', `\x1b[${'1;2;3;4;38:2::1:2:3;9;'.repeat(5)}4m`),
  'private modes, many in one': filled('', `\x1b[?${'1049;25;2004;1000;'.repeat(6)}1h`),
  'back and forth between screens': filled('', '\x1b[?1049h\x1b[?1049l'),
};

const measure = ({ makeGrid, makeStreamFilter }, bytes, chunk) => {
  const filter = makeStreamFilter(makeGrid(COLUMNS, ROWS, ROWS + 1));
  const start = performance.now();
  let [done, out] = [0, 0];
  while (done < bytes.length && performance.now() - start < PATIENCE_MS) {
    for (const part of filter.push(bytes.subarray(done, done + chunk))) out += part.length;
    done = Math.min(done + chunk, bytes.length);
  }
  return { chunk, rate: (performance.now() - start) / (done / 1e6), ratio: out / done };
};

/** One entry for each case: `{ name, sizes: [{ chunk, rate: ms/MB, ratio: bytes out for one in }] }`. */
export const measureWorst = async (folder) => {
  const filter = await importBundle(folder, 'worst', SOURCE);
  return Object.entries(cases).map(([name, bytes]) => ({
    name,
    sizes: CHUNKS.map((chunk) => measure(filter, bytes, chunk)),
  }));
};
