import { isRecord } from '../json.js';
import type { KeyName } from './keys.js';

// Names that the agents and other programs have, or had, for a setting of ctxwrap. Their values may have other units, so they are only suggested.

/** A key of ctxwrap and a value that it can have. */
export interface Replacement {
  readonly key: KeyName;
  /** undefined for a switch whose old value is not known */
  readonly value: string | boolean | undefined;
}

const example = (key: KeyName, value: string) => (): Replacement => ({ key, value });

const percentOf = (old: unknown): string | undefined => {
  if (typeof old !== 'number' || old <= 0 || old > 100) return undefined;
  return `${Math.round(old <= 1 ? old * 100 : old)}%`; // some count to 1, others to 100
};

const share =
  (key: KeyName, usual: string) =>
  (old: unknown): Replacement => ({ key, value: percentOf(old) ?? usual });

/** It means the same, so its value says which one. */
const flag =
  <Value extends string | boolean>(key: KeyName, on: Value, off: Value) =>
  (old: unknown): Replacement => ({
    key,
    value: old === undefined ? undefined : old === false ? off : on,
  });

const replacements: Readonly<Record<string, (old: unknown) => Replacement>> = {
  chatCompression: share('auto', '70%'),
  contextPercentageThreshold: share('auto', '70%'),
  autoCompactThreshold: share('auto', '70%'),
  maxAutoPercent: share('auto', '85%'),
  maxAutoPct: share('auto', '85%'),
  enableProactiveCompact: flag('proactive', true, false),
  contextWindowSize: example('window', '200k'),
  compactionThresholdPct: share('auto', '85%'),
  customContextCompaction: flag('mode', 'auto', 'warn'),
  compactionStrategy: example('strategy', 'truncate'),
  checkpointBeforeCompaction: flag('checkpoint', true, false),
};

/** What took the place of a key, also of one inside the objects of another program, or written with its path: `model.chatCompression`. */
export const replacementOf = (key: string, value?: unknown): Replacement | undefined => {
  const name = key.split('.').at(-1) ?? key;
  for (const [inner, held] of isRecord(value) ? Object.entries(value) : []) {
    const found = replacementOf(inner, held);
    if (found) return found;
  }
  return Object.hasOwn(replacements, name) ? replacements[name]?.(value) : undefined;
};
