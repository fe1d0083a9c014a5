import { describe, expect, it } from 'vitest';
import { defaultValueOf, configKey, ownEnvName, toWritten } from '../../../src/core/config/keys.js';
import { allKeys, effectiveOf, samples, settingsOf } from '../../support/config.js';

const inEnv = allKeys.filter((key) => configKey(key).env !== false);

/** A value of a file as it is used. */
const used = (key: (typeof allKeys)[number], written: unknown): unknown => configKey(key).type.read(written);

const isText = (value: unknown): value is string | boolean | number =>
  typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number';

describe.each(allKeys)('%s', (key) => {
  const { valid, wrong } = samples[key];

  it.each(valid.map((value) => [value]))('may be %j in the user’s file', (value) => {
    const { problems, effective } = settingsOf({ user: { [key]: value } });
    expect(problems.filter(({ kind }) => kind !== 'unusable')).toEqual([]);
    const found = effective.find((each) => each.key === key);
    expect(found).toMatchObject({ key, origin: { layer: 'user', place: '/home/config.jsonc' } });
    expect(found?.value).toEqual(used(key, value));
  });

  it.each(wrong.map((value) => [value]))('may not be %j', (value) => {
    const settings = settingsOf({ user: { [key]: value } });
    const { careful, otherwise } = configKey(key);
    expect(settings.problems).toMatchObject([{ kind: 'wrong', key, origin: { layer: 'user' } }]);
    const stands = careful ?? (typeof value === 'string' ? otherwise : undefined);
    expect(effectiveOf(settings, key).value).toEqual(
      stands === undefined ? defaultValueOf(key) : used(key, stands),
    );
  });

  it('touches no other key when it is wrong', () => {
    const plain = settingsOf({}).values;
    const { values } = settingsOf({ user: { [key]: wrong[0] } });
    expect({ ...values, [key]: 0 }).toEqual({ ...plain, [key]: 0 });
  });

  it('is written as it is read', () => {
    for (const value of valid) {
      const written = toWritten(key, used(key, value));
      expect(used(key, written)).toEqual(used(key, value));
    }
  });

  it('comes from an option before the environment, the project and the user, and remembers them', () => {
    const [first, last = first] = [used(key, valid[0]), used(key, valid.at(-1))];
    const user = { [key]: valid.at(-1) };
    expect(effectiveOf(settingsOf({ flags: { [key]: first }, user }), key)).toMatchObject({
      value: first,
      origin: { layer: 'flag' },
      overrides: [
        { value: last, origin: { layer: 'user' } },
        ...(defaultValueOf(key) === undefined ? [] : [{}]),
      ],
    });
  });
});

describe.each(inEnv)('%s in the environment', (key) => {
  const name = ownEnvName(key);
  const { valid, wrong } = samples[key];

  it(`is ${name}, and comes before the user’s file`, () => {
    for (const value of valid.filter(isText)) {
      const settings = settingsOf({ env: { [name]: `${value}` }, user: { [key]: valid[0] } });
      expect(effectiveOf(settings, key)).toMatchObject({
        value: used(key, value),
        origin: { layer: 'env', place: name },
        overrides: [{ origin: { layer: 'user' } }, ...(defaultValueOf(key) === undefined ? [] : [{}])],
      });
    }
  });

  it('is refused there, too', () => {
    const texts = wrong.filter((value) => typeof value === 'string' && value.trim() !== '');
    // there a choice may be in capitals, and a flag is a word
    const isNone = (text: unknown): boolean => !/^(?:yes|no|1|true|auto|wait|bar|hard)$/i.test(String(text));
    const text = texts.find(isNone) ?? 'no such thing';
    const { problems } = settingsOf({ env: { [name]: String(text) } });
    expect(problems).toMatchObject([{ kind: 'wrong', key, origin: { layer: 'env', place: name } }]);
  });

  it('is none when it is empty', () => {
    expect(effectiveOf(settingsOf({ env: { [name]: ' ' } }), key).origin.layer).not.toBe('env');
  });
});

describe('a flag in the environment', () => {
  it.each([
    ['true', true],
    ['1', true],
    ['YES', true],
    ['false', false],
    ['0', false],
    ['No', false],
  ])('is %s', (text, value) => {
    expect(settingsOf({ env: { CTXWRAP_WATCH_OMC: text } }).values['watch.omc']).toBe(value);
  });

  it.each(['on', 'off', '2', 'y'])('is not %s', (text) => {
    expect(settingsOf({ env: { CTXWRAP_WATCH_OMC: text } }).problems).toHaveLength(1);
  });
});
