import { type ValueType, type Written, keyNames, keyOf, type KeyName } from './keys.js';

/** One name in the environment, and how it is read. */
export interface EnvName {
  readonly name: string;
  readonly key: KeyName;
  readonly type: ValueType;
  readonly means?: Readonly<Record<string, Written>>;
  readonly otherwise?: Written;
}

/** `claude.statusLine` as CTXWRAP_CLAUDE_STATUS_LINE. */
export const ownEnvName = (key: KeyName): string =>
  `CTXWRAP_${key
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('.', '_')
    .toUpperCase()}`;

/** All names in the order in which they count: our own before one of other programs. */
export const envNames: readonly EnvName[] = keyNames.flatMap((key) => {
  const { type, aliases = [], env } = keyOf(key);
  if (env === false) return [];
  return [{ name: ownEnvName(key), key, type }, ...aliases.map((alias) => ({ type, ...alias, key }))];
});

/** Names of ours that are no keys. */
export const otherEnvNames: readonly string[] = [
  'CTXWRAP_CONFIG',
  'CTXWRAP_DEMO_LOG',
  'CTXWRAP_DISABLE',
  'CTXWRAP_LEVEL',
  'CTXWRAP_SESSION',
];

const texts: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  false: false,
  '0': false,
  no: false,
};

/** A text of the environment as a file would write it; what is none stays a text, and is refused by the check. */
export const writtenIn = (type: ValueType, text: string): unknown => {
  const trimmed = text.trim();
  switch (type.kind) {
    case 'flag':
      return texts[trimmed.toLowerCase()] ?? trimmed;
    case 'list':
      return trimmed === '' ? [] : trimmed.split(',').map((each) => each.trim());
    case 'choice':
      return trimmed.toLowerCase() === trimmed ? trimmed : (alike(type.choices, trimmed) ?? trimmed);
    default:
      return trimmed;
  }
};

const alike = (choices: readonly string[], text: string): string | undefined =>
  choices.find((each) => each.toLowerCase() === text.toLowerCase());
