import type { Ledger } from '../modes.js';
import { countAt, valueAt, type Sequence } from './bytes.js';
import { cursorRules, type Rule } from './cursor-rules.js';
import type { Grid } from './grid.js';
import { restorePrivateModes, savePrivateModes, setPrivateModes, windowRules } from './mode-rules.js';
import { addRendition } from './rendition.js';
import { repeat } from './repeat.js';

const keyOf = (prefix: number, intermediate: number, final: number): number =>
  (prefix << 16) | (intermediate << 8) | final;

const isPrefix = (byte: number): boolean => byte >= 0x3c && byte <= 0x3f;

/** `'?J'` → prefix and final, `'$r'` → intermediate and final. */
const keyOfName = (name: string): number => {
  const final = name.charCodeAt(name.length - 1);
  const other = name.length > 1 ? name.charCodeAt(0) : 0;
  return isPrefix(other) ? keyOf(other, 0, final) : keyOf(0, other, final);
};

type FullRule = (grid: Grid, ledger: Ledger, sequence: Sequence) => string | undefined;

const ansiModes =
  (on: boolean): FullRule =>
  (grid, ledger, sequence) => {
    for (let index = 0; index < sequence.count; index += 1) {
      const mode = valueAt(sequence, index);
      if (mode === 4) grid.insertMode = on;
      if (mode === 20) grid.newLine = on;
      ledger.ansiMode(mode, on);
    }
    return undefined;
  };

const reported: Readonly<Record<string, FullRule>> = {
  '?h': (grid, ledger, sequence) => setPrivateModes(grid, ledger, sequence, true),
  '?l': (grid, ledger, sequence) => setPrivateModes(grid, ledger, sequence, false),
  '?s': savePrivateModes,
  '?r': restorePrivateModes,
  h: ansiModes(true),
  l: ansiModes(false),
  m: (grid, _ledger, sequence) => {
    grid.rendition = addRendition(grid.rendition, sequence);
    return undefined;
  },
  '>u': (grid, ledger, sequence) => {
    ledger.pushKeyboard(valueAt(sequence, 0), grid.alternate);
    return undefined;
  },
  '<u': (grid, ledger, sequence) => {
    ledger.popKeyboard(countAt(sequence, 0), grid.alternate);
    return undefined;
  },
  n: (_grid, ledger, sequence) => {
    if (valueAt(sequence, 0) === 6) ledger.questions.ask('R', false);
    return undefined;
  },
  c: (_grid, ledger) => {
    ledger.questions.ask('?c', false);
    return undefined;
  },
  '>c': (_grid, ledger) => {
    ledger.questions.ask('c', false);
    return undefined;
  },
  '=u': (_grid, ledger, sequence) => {
    ledger.keyboardFlags(valueAt(sequence, 0));
    return undefined;
  },
  '>m': (_grid, ledger, sequence) => {
    ledger.modifyKeys(valueAt(sequence, 0), valueAt(sequence, 1));
    return undefined;
  },
  ' q': (_grid, ledger, sequence) => {
    ledger.cursorStyle(valueAt(sequence, 0));
    return undefined;
  },
  '"q': (grid, _ledger, sequence) => {
    grid.isProtected = valueAt(sequence, 0) === 1; // DECSCA
    return undefined;
  },
  '!p': (grid, ledger, sequence) => {
    ledger.reset(true);
    return windowRules['!p']?.(grid, sequence);
  },
};

const plain =
  (rule: Rule): FullRule =>
  (grid, _ledger, sequence) =>
    rule(grid, sequence);

const table = new Map<number, FullRule>();
for (const rules of [cursorRules, windowRules]) {
  for (const [name, rule] of Object.entries(rules)) table.set(keyOfName(name), plain(rule));
}
for (const [name, rule] of Object.entries(reported)) table.set(keyOfName(name), rule);

const REPEAT = keyOfName('b');

/** Changes grid and ledger as the sequence does; returns what to send instead of it, or undefined to send it as it is. */
export const dispatchControlSequence = (
  grid: Grid,
  ledger: Ledger,
  sequence: Sequence,
): string | undefined => {
  const key = keyOf(sequence.prefix, sequence.intermediate, sequence.final);
  if (key === REPEAT) return repeat(grid, countAt(sequence, 0));
  grid.lastWidth = 0;
  return table.get(key)?.(grid, ledger, sequence);
};
