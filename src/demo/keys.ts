// Bytes of the keyboard -> keys. Sequences may be split anywhere; what is not complete yet is handed back as `rest`.

/** A key the agent knows. Text comes as typed, a paste in one piece. */
export type Key = { readonly name: 'text'; readonly text: string } | { readonly name: KeyName };

export type KeyName = (typeof keyNames)[number];

export const keyNames = [
  'enter',
  'backspace',
  'escape',
  'up',
  'down',
  'ctrl-c',
  'ctrl-d',
  'ctrl-u',
  'ctrl-z',
] as const;

export interface KeyRead {
  readonly keys: readonly Key[];
  /** the beginning of a sequence that has not ended; prepend it to the next bytes */
  readonly rest: string;
}

/** An escape byte that nothing has followed for this long was the Escape key. */
export const escapeWaitMs = 50;

const pasteStart = '\x1b[200~';
const pasteEnd = '\x1b[201~';
const complete = /^\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[\]P_^X][^\x07\x1b]*(?:\x07|\x1b\\))/;
const incomplete = /^\x1b(?:$|\[[0-?]*[ -/]*$|O$|[\]P_^X][^\x07\x1b]*\x1b?$)/;

const controls: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x03': 'ctrl-c',
  '\x04': 'ctrl-d',
  '\x15': 'ctrl-u',
  '\x1a': 'ctrl-z',
  '\x1b[A': 'up',
  '\x1bOA': 'up',
  '\x1b[B': 'down',
  '\x1bOB': 'down',
};

export const readKeys = (bytes: string): KeyRead => {
  const keys: Key[] = [];
  let left = bytes;
  while (left !== '') {
    const taken = takeOne(left);
    if (!taken) return { keys, rest: left };
    keys.push(...taken.keys);
    left = left.slice(taken.length);
  }
  return { keys, rest: '' };
};

/** What an unfinished sequence means when nothing followed it. */
export const flushKeys = (rest: string): readonly Key[] => (rest === '\x1b' ? [{ name: 'escape' }] : []);

interface Taken {
  readonly keys: readonly Key[];
  readonly length: number;
}

const takeOne = (left: string): Taken | undefined => {
  if (left.startsWith(pasteStart)) return takePaste(left);
  if (!left.startsWith('\x1b')) return takePlain(left);
  const sequence = complete.exec(left)?.[0];
  // replies of the terminal, mouse and focus reports and unknown keys say nothing to the agent
  if (sequence !== undefined) return { keys: named(sequence), length: sequence.length };
  if (incomplete.test(left) || pasteStart.startsWith(left)) return undefined;
  return { keys: [{ name: 'escape' }], length: 1 };
};

const takePaste = (left: string): Taken | undefined => {
  const end = left.indexOf(pasteEnd);
  if (end < 0) return undefined;
  const text = left.slice(pasteStart.length, end).replaceAll(/[\x00-\x1f\x7f]+/g, ' ');
  return { keys: [{ name: 'text', text }], length: end + pasteEnd.length };
};

const takePlain = (left: string): Taken => {
  const text = /^[^\x00-\x1f\x7f]+/.exec(left)?.[0];
  if (text !== undefined) return { keys: [{ name: 'text', text }], length: text.length };
  return { keys: named(left.slice(0, 1)), length: 1 };
};

const named = (sequence: string): readonly Key[] => {
  const name = controls[sequence];
  return name === undefined ? [] : [{ name }];
};
