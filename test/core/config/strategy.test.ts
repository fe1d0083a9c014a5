// A strategy that cannot work is found when the configuration is read, and the agent's own command takes its place.
import { describe, expect, it } from 'vitest';
import { defaultValues, type Values } from '../../../src/core/config/keys.js';
import { strategyInUse, strategyNotices, usableStrategies } from '../../../src/core/config/strategy.js';
import { effectiveOf, settingsOf, type Layers } from '../../support/config.js';

const unusable = (layers: Layers) => {
  const settings = settingsOf(layers);
  expect(effectiveOf(settings, 'strategy')).toMatchObject({ value: 'auto', origin: { layer: 'default' } });
  expect(strategyInUse(settings.values, true)).toBeUndefined();
  return settings.problems.filter(({ key }) => key === 'strategy');
};

describe('a strategy', () => {
  it('that does not exist is not used, and the command that fixes it is named', () => {
    expect(unusable({ env: { COMPACTION_STRATEGY: 'zzz' } })).toMatchObject([
      {
        level: 'error',
        what: 'strategy zzz is not used',
        where: 'COMPACTION_STRATEGY',
        why: expect.stringContaining('auto, truncate, summarize, clustering') as string,
        fix: 'unset COMPACTION_STRATEGY',
      },
    ]);
  });

  it('can be chosen in a session where its settings are there', () => {
    expect(usableStrategies(defaultValues)).toEqual(['auto', 'truncate', 'clustering']);
    const values = { ...defaultValues, 'summariser.url': 'agent', strategies: { mine: '~/mine.js' } };
    expect(usableStrategies(values)).toEqual(['auto', 'truncate', 'summarize', 'clustering', 'mine']);
  });

  it('whose name is mistyped is named as it was meant', () => {
    expect(unusable({ env: { CTXWRAP_STRATEGY: 'trunkate' } })[0]?.fix).toBe(
      "export CTXWRAP_STRATEGY='truncate'",
    );
    expect(unusable({ flags: { strategy: 'sumarize' } })[0]?.fix).toBe('ctxwrap --strategy summarize …');
  });

  it('that needs a summariser is used only with one that can be used', () => {
    const asked = { BACKEND: 'openai', CUSTOM_CONTEXT_COMPACTION: 'true', COMPACTION_STRATEGY: 'summarize' };
    expect(unusable({ env: asked })[0]?.fix).toBe('ctxwrap config set summariser.url agent');
    const remote = { 'summariser.url': 'http://example.org/v1' };
    expect(unusable({ env: asked, user: remote })[0]?.fix).toBe('ctxwrap config set summariser.remote true');
    const { values, problems } = settingsOf({ env: asked, user: { 'summariser.url': 'agent' } });
    expect([values.strategy, problems]).toEqual(['summarize', []]);
  });

  it('of your own is used if its file is there', () => {
    const user = { strategy: 'mine', strategies: { mine: '~/mine.mjs' } };
    expect(settingsOf({ user })).toMatchObject({ values: { strategy: 'mine' }, problems: [] });
    expect(unusable({ user, missing: ['~/mine.mjs'] })[0]?.why).toContain('there is no file ~/mine.mjs');
  });

  it.each([
    ['export const compact = async (session) => session;', true],
    ['const mine = (session) => session;\nexport { mine as compact };', true],
    ['module.exports = { compact: (session) => session };', true],
    ["export * from './mine.js';", true],
    ["export * as all from './mine.js'; export { all as default };", true],
    ['module.exports = require("./impl.cjs")', true],
    ['__export(x, { compact: () => compact });module.exports = __toCommonJS(x);', true],
    ['exports.compact = void 0;exports.compact = a;', true],
    ['const a=e=>e;export{a as compact};', true],
    ['const a=e=>e;export{a as "\\u0063ompact"};', true],
    ['this["com" + "pact"] = (session) => session;', true],
    ['arguments[0].run = 1;', true],
    ['export default { compact: (session) => session };', true],
    [undefined, true], // longer than what is looked at
    ["import './mine.js';\nexport const shorten = (session) => session;", false],
    ['const compact = (session) => session;', false],
    ['', false],
  ])('of your own whose module is %j is used: %s', (module, isUsed) => {
    const user = { strategy: 'mine', strategies: { mine: '~/mine.mjs' } };
    const { values, problems } = settingsOf({ user, module });
    expect(values.strategy).toBe(isUsed ? 'mine' : 'auto');
    const names = problems.map(({ why }) => why.includes('~/mine.mjs exports no function "compact"'));
    expect(names).toEqual(isUsed ? [] : [true]);
  });
});

describe('the start of a session', () => {
  const notices = (values: Partial<Values>, assumedTokens?: number, canSwitch = true) =>
    strategyNotices(
      { ...defaultValues, ...values },
      { isModeGiven: true, assumedTokens, agent: { name: 'kimi', canSwitch } },
    );

  it('says what a backend changes', () => {
    expect(notices({ backend: 'openai' }, 128_000)).toEqual([
      'backend openai: 128k? (not 200k), auto at 85%, strategy auto (no summariser)',
    ]);
    expect(notices({ backend: 'openai', 'summariser.url': 'agent' })).toEqual([
      'backend openai: auto at 85%, strategy summarize',
    ]);
    expect(notices({ backend: 'ollama' }, 8_192)).toEqual([
      'backend ollama: 8.2k? (not 200k), auto at 85%, strategy truncate',
    ]);
  });

  it('says nothing of a backend that changes nothing', () => {
    expect(notices({})).toEqual([]);
    expect(notices({ backend: 'claude', ladder: 'ladder' }, 200_000)).toEqual([]);
    expect(
      notices({ backend: 'openai', strategy: 'auto', auto: { unit: 'tokens', value: 100_000 } }),
    ).toEqual([]);
  });

  it('says that a strategy is not used by an agent that takes no other session while it runs', () => {
    expect(notices({ strategy: 'truncate' }, undefined, false)).toEqual([
      'strategy truncate is not used: kimi cannot switch to another session',
    ]);
    expect(notices({ strategy: 'mine', strategies: { mine: '~/mine.mjs' } }, undefined, false)).toEqual([
      'strategy mine is not used: kimi cannot switch to another session',
    ]);
    expect(notices({ strategy: 'zzz' }, undefined, false)).toEqual([
      'strategy zzz is not used: no such strategy',
    ]);
  });
});
