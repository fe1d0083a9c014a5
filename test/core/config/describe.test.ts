// `npm run docs:config` writes the table anew.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configComment, describeKey, keyTable } from '../../../src/core/config/describe.js';
import { jsonSchema } from '../../../src/core/config/describe.js';
import { envNames, configKey } from '../../../src/core/config/keys.js';
import { allKeys, samples } from '../../support/config.js';

const page = resolve(import.meta.dirname, '../../../docs/configuration.md');

it('the documentation has the table of the keys as they are', async () => {
  const text = readFileSync(page, 'utf8');
  const whole = text.replace(
    /<!-- keys -->[^]*<!-- \/keys -->/,
    () => `<!-- keys -->\n${keyTable()}\n<!-- /keys -->`,
  );
  await expect(whole).toMatchFileSnapshot(page);
});

it('the documentation has every name of the environment', () => {
  const text = readFileSync(page, 'utf8') + keyTable();
  expect(envNames.filter(({ name }) => !text.includes(`\`${name}\``))).toEqual([]);
});

describe.each(allKeys)('%s', (key) => {
  it('says what it does in a sentence, with values that are right', () => {
    const { doc, fallback, example, careful, type, project = [] } = configKey(key);
    expect(doc).toMatch(/^[A-Z].*\.$/);
    for (const value of [fallback, example, careful, ...project].filter((each) => each !== undefined))
      expect(type.read(value)).toBeDefined();
  });

  it('has a comment that can be uncommented', () => {
    const lines = configComment(key);
    expect(lines.every((line) => line.startsWith('// ') && line.length <= 100)).toBe(true);
    const [name, value] = Object.entries(JSON.parse(`{${lines.at(-1)?.slice(3, -1)}}`) as object)[0] ?? [];
    expect(name).toBe(key);
    expect(configKey(key).type.read(value)).toBeDefined();
  });

  it('goes to the least for a project, or not at all', () => {
    const { project } = configKey(key);
    expect(describeKey(key).project).toBe(project ? `only towards ${JSON.stringify(project.at(-1))}` : 'no');
  });

  it('is described to editors as it is checked', () => {
    const { properties } = jsonSchema() as { properties: Record<string, SchemaPart> };
    const schema = properties[key] ?? {};
    expect(schema.description).toBe(configKey(key).doc);
    for (const value of samples[key].valid) expect([value, fits(schema, value)]).toEqual([value, true]);
  });
});

interface SchemaPart {
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly anyOf?: readonly SchemaPart[];
}

/** As much of JSON Schema as ours uses. */
const fits = (schema: SchemaPart, value: unknown): boolean => {
  const { minimum = -Infinity, maximum = Infinity, maxLength = Infinity, pattern = '' } = schema;
  if (schema.anyOf) return schema.anyOf.some((each) => fits(each, value));
  if (schema.enum) return schema.enum.includes(value);
  if (schema.type === 'integer')
    return Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
  if (schema.type === 'string')
    return typeof value === 'string' && value.length <= maxLength && new RegExp(pattern).test(value);
  if (schema.type === 'array') return Array.isArray(value);
  return typeof value === schema.type;
};
