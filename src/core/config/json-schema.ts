// The JSON Schema of a configuration file, for editors.
import type { JsonRecord } from '../json.js';
import { LONGEST_FOCUS } from '../compaction/focus.js';
import type { ValueType } from './key.js';
import { keyNames, keyOf } from './keys.js';

export const jsonSchema = (): JsonRecord => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'ctxwrap',
  type: 'object',
  properties: {
    $schema: { type: 'string' },
    ...Object.fromEntries(
      keyNames.map((name) => {
        const { doc, fallback, type } = keyOf(name);
        return [
          name,
          { description: doc, ...(fallback === undefined ? {} : { default: fallback }), ...schemaOf(type) },
        ];
      }),
    ),
  },
  additionalProperties: false,
});

const TOKENS = String.raw`^\d+(_\d+)*(\.\d+)?[kKmM]?$`;
const BOUND = String.raw`^\d+(_\d+)*(\.\d+)?[kKmM%]?$`;

const schemaOf = (type: ValueType): JsonRecord => {
  switch (type.kind) {
    case 'choice':
      return { enum: type.choices };
    case 'flag':
      return { type: 'boolean' };
    case 'tokens':
      return {
        anyOf: [
          { type: 'integer', minimum: type.least, maximum: type.most },
          { type: 'string', pattern: TOKENS },
        ],
      };
    case 'bound':
    case 'percent':
      return {
        anyOf: [
          { type: 'integer', minimum: 1_000 },
          { type: 'string', pattern: BOUND },
        ],
      };
    case 'text':
      return { type: 'string', minLength: 1, maxLength: type.longest };
    case 'focus':
      return { type: 'string', minLength: 1, maxLength: LONGEST_FOCUS };
    case 'path':
      return { type: 'string', pattern: '^(~/|/)' };
    case 'hotkey':
      return { type: 'string', examples: ['Ctrl-]', '^G', 'none'] };
    case 'list':
      return { type: 'array', items: { enum: type.choices }, uniqueItems: true };
    case 'definitions':
      return { type: 'object', additionalProperties: { type: 'object' } };
  }
};
