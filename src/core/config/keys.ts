// All keys of the configuration, once. Checks, the JSON Schema, the documentation, the file of `config init`, environment names and
// defaults are made of this table.
import { compactingKeys } from './compacting-keys.js';
import type { DeprecatedKey, Key, ValueOf } from './key.js';
import { sessionKeys } from './session-keys.js';

export const keys = { ...compactingKeys, ...sessionKeys } as const;

export type KeyName = keyof typeof keys;

/** Every value that somebody set, or that holds by itself. */
export type Values = { readonly [K in KeyName]?: ValueOf<(typeof keys)[K]['type']> };

export const keyNames = Object.keys(keys) as readonly KeyName[];

export const keyOf = (name: KeyName): Key => keys[name];

export const isKeyName = (name: string): name is KeyName => Object.hasOwn(keys, name);

/** Keys of earlier versions. They are ignored, and said once. */
export const deprecatedKeys: Readonly<Record<string, DeprecatedKey>> = {};
