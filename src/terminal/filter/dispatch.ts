import type { ModeTracker } from '../mode-tracker.js';
import type { QueryKind, QueryQueue } from '../query-queue.js';
import { SENTINEL } from '../questions.js';
import { parameterOrOne, parameterOrZero, type ControlSequence } from './bytes.js';
import { cursorRules, type Rule } from './cursor-rules.js';
import type { Grid } from './grid.js';
import { restorePrivateModes, savePrivateModes, setPrivateModes, windowRules } from './grid-modes.js';
import { addRendition } from './rendition.js';
import { repeat } from './repeat.js';

// Finds the rule for a control sequence.

const ruleKey = (prefix: number, intermediate: number, final: number): number =>
  (prefix << 16) | (intermediate << 8) | final;

const isPrefix = (byte: number): boolean => byte >= 0x3c && byte <= 0x3f;

/** `'?J'` → prefix and final, `'$r'` → intermediate and final. */
const ruleKeyOfName = (name: string): number => {
  const final = name.charCodeAt(name.length - 1);
  const other = name.length > 1 ? name.charCodeAt(0) : 0;
  return isPrefix(other) ? ruleKey(other, 0, final) : ruleKey(0, other, final);
};

type TrackedRule = (grid: Grid, modeTracker: ModeTracker, sequence: ControlSequence) => string | undefined;

const ansiModes =
  (on: boolean): TrackedRule =>
  (grid, modeTracker, sequence) => {
    for (let index = 0; index < sequence.count; index += 1) {
      const mode = parameterOrZero(sequence, index);
      if (mode === 4) grid.insertMode = on;
      if (mode === 20) grid.newLine = on;
      modeTracker.setAnsiMode(mode, on);
    }
    return undefined;
  };

/**
 * The child asks for the cursor. Where the wrapper still waits for an answer of the same kind, a query that every terminal answers goes
 * first, to show whether that answer is only late or has got lost.
 */
const cursorQuery = (
  { origin, row, top, isRowKnown }: Grid,
  queries: QueryQueue,
  kind: QueryKind,
  query: string,
): string | undefined => {
  const isShared = queries.isOwnOpen(kind);
  if (isShared) queries.addOwn('status');
  queries.addChild(kind, kind === 'cursor' && isRowKnown && row === (origin ? top : 0));
  return isShared ? SENTINEL + query : undefined;
};

const trackedRules: Readonly<Record<string, TrackedRule>> = {
  '?h': (grid, modeTracker, sequence) => setPrivateModes(grid, modeTracker, sequence, true),
  '?l': (grid, modeTracker, sequence) => setPrivateModes(grid, modeTracker, sequence, false),
  '?s': savePrivateModes,
  '?r': restorePrivateModes,
  h: ansiModes(true),
  l: ansiModes(false),
  m: (grid, _ledger, sequence) => {
    grid.rendition = addRendition(grid.rendition, sequence);
    return undefined;
  },
  '>u': (grid, modeTracker, sequence) => {
    modeTracker.pushKeyboard(parameterOrZero(sequence, 0), grid.alternate);
    return undefined;
  },
  '<u': (grid, modeTracker, sequence) => {
    modeTracker.popKeyboard(parameterOrOne(sequence, 0), grid.alternate);
    return undefined;
  },
  n: (grid, { queries }, sequence) => {
    const what = parameterOrZero(sequence, 0);
    if (what === 5) queries.addChild('status');
    return what === 6 ? cursorQuery(grid, queries, 'cursor', '\x1b[6n') : undefined;
  },
  '?n': (grid, { queries }, sequence) =>
    parameterOrZero(sequence, 0) === 6
      ? cursorQuery(grid, queries, 'extended cursor', '\x1b[?6n')
      : undefined,
  c: (_grid, { queries }) => {
    queries.addChild('primary attributes');
    return undefined;
  },
  '>c': (_grid, { queries }) => {
    queries.addChild('secondary attributes');
    return undefined;
  },
  t: (grid, { queries }, sequence) => {
    if (parameterOrZero(sequence, 0) === 14) queries.addChild('text area');
    return windowRules['t']?.(grid, sequence);
  },
  '=u': (_grid, modeTracker, sequence) => {
    modeTracker.keyboardFlags(parameterOrZero(sequence, 0));
    return undefined;
  },
  '>m': (_grid, modeTracker, sequence) => {
    modeTracker.modifyKeys(parameterOrZero(sequence, 0), parameterOrZero(sequence, 1));
    return undefined;
  },
  ' q': (_grid, modeTracker, sequence) => {
    modeTracker.cursorStyle(parameterOrZero(sequence, 0));
    return undefined;
  },
  '"q': (grid, _ledger, sequence) => {
    grid.isProtected = parameterOrZero(sequence, 0) === 1; // DECSCA
    return undefined;
  },
  '!p': (grid, modeTracker, sequence) => {
    modeTracker.reset(true);
    return windowRules['!p']?.(grid, sequence);
  },
};

const ignoreModeTracker =
  (rule: Rule): TrackedRule =>
  (grid, _ledger, sequence) =>
    rule(grid, sequence);

const table = new Map<number, TrackedRule>();
for (const rules of [cursorRules, windowRules]) {
  for (const [name, rule] of Object.entries(rules)) table.set(ruleKeyOfName(name), ignoreModeTracker(rule));
}
for (const [name, rule] of Object.entries(trackedRules)) table.set(ruleKeyOfName(name), rule);

const REPEAT = ruleKeyOfName('b');

/** Changes grid and mode tracker as the sequence does; returns what to send instead, or undefined to send it unchanged. */
export const dispatchControlSequence = (
  grid: Grid,
  modeTracker: ModeTracker,
  sequence: ControlSequence,
): string | undefined => {
  const key = ruleKey(sequence.prefix, sequence.intermediate, sequence.final);
  if (key === REPEAT) return repeat(grid, parameterOrOne(sequence, 0));
  grid.lastWidth = 0;
  return table.get(key)?.(grid, modeTracker, sequence);
};
