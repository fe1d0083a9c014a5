// What may stand at a key, as valibot schemas made of the key's type.
import * as v from 'valibot';
import { boundIn, tokensIn } from '../amount.js';
import { focusText, LONGEST_FOCUS } from '../compaction/focus.js';
import { readControlKey } from '../control-key.js';
import { isRecord } from '../json.js';
import type { ValueType } from './key.js';

/** A value as it is used, or what it must be instead. */
export type CheckedValue = { readonly value: unknown } | { readonly rule: string };

/** Whether a value as a file has it may stand there. */
export const checkValue = (type: ValueType, written: unknown): CheckedValue => {
  const result = v.safeParse(schemaOf(type), written, { abortEarly: true });
  return result.success ? { value: result.output } : { rule: ruleOf(type, written) };
};

/** What must stand there, for a sentence that ends with it. */
export const ruleOf = (type: ValueType, written?: unknown): string => {
  switch (type.kind) {
    case 'choice':
      return `one of ${type.choices.join(', ')}`;
    case 'flag':
      return 'true or false';
    case 'tokens':
      return `a number of tokens from ${type.least} to ${type.most}`;
    case 'bound':
      return 'a percentage from 1% to 100% or a number of tokens from 1k to 10M';
    case 'percent':
      return `a percentage from ${type.least} to ${type.most}`;
    case 'text':
      return `a text of at most ${type.longest} characters`;
    case 'focus':
      return `a text of at most ${LONGEST_FOCUS} characters`;
    case 'path':
      return 'the absolute path of a file, or one that begins with ~/';
    case 'hotkey':
      return hotkeyRule(written);
    case 'list':
      return `a list of ${type.choices.join(', ')}`;
    case 'definitions':
      return 'an object that holds one object for each agent';
  }
};

const hotkeyRule = (written: unknown): string => {
  const key = readControlKey(typeof written === 'string' ? written : '');
  return typeof key === 'object' ? key.rule : 'a key';
};

const schemaOf = (type: ValueType): v.GenericSchema<unknown, unknown> => {
  switch (type.kind) {
    case 'choice':
      return v.picklist(type.choices);
    case 'flag':
      return v.boolean();
    case 'tokens':
      return v.pipe(
        amount,
        v.transform(tokensIn),
        v.integer(),
        v.minValue(type.least),
        v.maxValue(type.most),
      );
    case 'bound':
      return v.pipe(
        amount,
        v.transform(boundIn),
        v.object({ value: v.number(), unit: v.picklist(['percent', 'tokens']) }),
      );
    case 'percent':
      return v.pipe(
        amount,
        v.transform((text) => boundIn(text.replace(/%?$/, '%'))),
        v.object({
          value: v.pipe(v.number(), v.minValue(type.least), v.maxValue(type.most)),
          unit: v.literal('percent'),
        }),
        v.transform((bound) => ({ ...bound, yields: true as const })),
      );
    case 'text':
      return v.pipe(v.string(), v.nonEmpty(), v.maxLength(type.longest));
    case 'focus':
      return v.pipe(
        v.string(),
        v.check((text) => [...text.trim()].length <= LONGEST_FOCUS),
        v.transform(focusText),
        v.string(),
      );
    case 'path':
      return v.pipe(v.string(), v.regex(/^(?:~\/|\/)[^\0]+$/), v.maxLength(LONGEST_PATH));
    case 'hotkey':
      return v.pipe(v.string(), v.transform(readControlKey), v.union([v.number(), v.literal('none')]));
    case 'list':
      return v.pipe(
        v.array(v.picklist(type.choices)),
        v.transform((items) => [...new Set(items)]),
      );
    case 'definitions':
      return v.pipe(v.custom(isRecord), v.record(v.string(), v.custom(isRecord)));
  }
};

const LONGEST_PATH = 4_096; // bytes that systems take

/** A number, or a text that stands for one. */
const amount = v.pipe(
  v.union([v.string(), v.pipe(v.number(), v.finite())]),
  v.transform((given) => String(given)),
);
