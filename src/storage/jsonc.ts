// JSON with comments and trailing commas, as a configuration file has it, with the places where its values stand.
import { findNodeAtLocation, getNodeValue, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { Node, ParseError } from 'jsonc-parser';
import type { Entry } from '../core/config/read-layer.js';
import type { Position } from '../core/config/setting.js';

export interface ConfigText {
  /** what stands in the object; the last one of a name holds */
  readonly entries: readonly Entry[];
  /** what is no JSONC */
  readonly faults: readonly Fault[];
  /** names that stand more than once in one object, also further in, as `runtimes.mine.command` */
  readonly repeated: readonly Repeated[];
  /** where a value stands; undefined where there is none */
  readonly positionOf: (path: readonly string[]) => Position | undefined;
  /** whether what stands at this offset belongs to a value of the object, and not to the object itself */
  readonly isInValue: (offset: number) => boolean;
  /** offset of the bracket that closes the object; undefined where there is no object */
  readonly end: number | undefined;
  /** offset behind the last value in the object, when no comma follows; undefined else */
  readonly openEnd: number | undefined;
}

export interface Fault {
  readonly reason: string;
  readonly at: Position;
}

export interface Repeated {
  readonly key: string;
  /** of the last one, which holds */
  readonly at: Position;
}

/** Reads as much as there is; undefined for a text that is nested too deep to be read at all. An empty text has no entries. */
export const parseConfig = (text: string): ConfigText | undefined => {
  try {
    return parsed(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // the stack
    throw error;
  }
};

const parsed = (text: string): ConfigText => {
  const errors: ParseError[] = [];
  const body = text.replace(/^\uFEFF/, ' '); // of the same length
  const root = parseTree(body, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const at = positionsIn(body);
  const isObject = root?.type === 'object';
  return {
    entries: isObject ? entriesOf(root, at) : [],
    faults: [
      ...errors.map(({ error, offset }) => ({ reason: words(printParseErrorCode(error)), at: at(offset) })),
      ...(root && !isObject ? [{ reason: 'an object { … } is expected', at: at(root.offset) }] : []),
    ],
    repeated: root ? repeatedIn(root, '', at) : [],
    positionOf: (path) => {
      const node = root && findNodeAtLocation(root, path.map(segment));
      return node && at(node.offset);
    },
    isInValue: (offset) =>
      isObject &&
      pairsOf(root).some(({ value }) => value.offset <= offset && offset < value.offset + value.length),
    end: isObject && errors.length === 0 ? root.offset + root.length - 1 : undefined,
    openEnd: isObject ? openEndOf(root, body) : undefined,
  };
};

type Place = (offset: number) => Position;

const entriesOf = (root: Node, at: Place): readonly Entry[] => {
  const pairs = pairsOf(root).map(
    ({ key, value }) => [key, { key, value: getNodeValue(value) as unknown, at: at(value.offset) }] as const,
  );
  return [...new Map(pairs).values()];
};

const pairsOf = ({ children = [] }: Node): readonly { readonly key: string; readonly value: Node }[] =>
  children.flatMap(({ children: [name, value] = [] }) => {
    const key: unknown = name?.value;
    return value && typeof key === 'string' ? [{ key, value }] : [];
  });

const repeatedIn = (node: Node, prefix: string, at: Place): readonly Repeated[] => {
  if (node.type !== 'object') return (node.children ?? []).flatMap((each) => repeatedIn(each, prefix, at));
  const last = new Map<string, Node>();
  const twice = new Set<string>();
  for (const { key, value } of pairsOf(node)) {
    if (last.has(key)) twice.add(key);
    last.set(key, value);
  }
  return [...last].flatMap(([key, value]) => [
    ...(twice.has(key) ? [{ key: prefix + key, at: at(value.offset) }] : []),
    ...repeatedIn(value, `${prefix}${key}.`, at),
  ]);
};

/** Comments may stand between the last value and its comma. */
const openEndOf = (root: Node, text: string): number | undefined => {
  const last = root.children?.at(-1);
  if (!last) return undefined;
  const end = last.offset + last.length;
  const rest = text.slice(end, root.offset + root.length - 1);
  const bare = rest.replace(/\/\/[^\r\n]*|\/\*[^]*?\*\//g, '');
  return bare.includes(',') ? undefined : end;
};

/** The numbers of a list are numbers here. */
const segment = (part: string): string | number => (/^\d+$/.test(part) ? Number(part) : part);

const positionsIn = (text: string): Place => {
  const starts = [0, ...Array.from(text.matchAll(/\r\n|[\r\n]/g), ({ index, 0: end }) => index + end.length)];
  return (offset) => {
    let line = 0; // by halves: a file may have as many names as lines
    for (let after = starts.length; after - line > 1;) {
      const middle = (line + after) >> 1;
      if ((starts[middle] ?? 0) <= offset) line = middle;
      else after = middle;
    }
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
};

/** `PropertyNameExpected` as `property name expected`. */
const words = (code: string): string => code.replace(/\B[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
