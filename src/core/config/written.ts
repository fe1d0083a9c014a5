import { boundText } from '../amount.js';
import { controlKeyName } from '../control-key.js';
import type { Bound } from '../rung.js';
import type { ValueType } from './key.js';

/** A value as a file would hold it; the reverse of `checkValue`. */
export const writtenOf = (type: ValueType, value: unknown): unknown => {
  switch (type.kind) {
    case 'bound':
    case 'percent':
      return isBound(value) && value.unit === 'percent'
        ? boundText(value)
        : isBound(value)
          ? value.value
          : value;
    case 'hotkey':
      return typeof value === 'number' || value === 'none' ? controlKeyName(value) : value;
    default:
      return value;
  }
};

const isBound = (value: unknown): value is Bound =>
  typeof value === 'object' && value !== null && 'unit' in value && 'value' in value;
