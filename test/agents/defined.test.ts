import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/agents/defined/agent.js';
import { makeTimeLimit } from '../../src/cli/time-limit.js';
import { define, least, toy } from '../support/defined.js';

const problemsOf = (value: unknown) => {
  const defined = defineAgent(value, makeTimeLimit());
  return 'problems' in defined ? defined.problems : [];
};

describe('a definition', () => {
  it('needs a name and a command, and is then an agent whose text is counted', () => {
    const agent = define(least);
    expect(agent).toMatchObject({ name: 'toy', command: 'toy-agent', isEstimated: true });
    expect(agent.isInteractive(['--help'])).toBe(true);
    expect(agent.log).toBeUndefined();
  });

  it('says which starts are no conversation, where the agent compacts, and how it is asked to', () => {
    const defined = defineAgent(toy, makeTimeLimit());
    if ('problems' in defined) throw new Error('it is wrong');
    const { agent } = defined;
    expect(agent.isInteractive(['chat', 'hello'])).toBe(true);
    expect(agent.isInteractive(['--print', 'hello'])).toBe(false);
    expect(agent.isInteractive(['login'])).toBe(false);
    expect(agent.isInteractive(['--model', 'login'])).toBe(true);
    expect(agent.nativeTrigger({})).toEqual({ share: 0.9, reserveTokens: 0 });
    expect(agent.recipe?.({})).toEqual({
      command: '/compact',
      takesFocus: false,
      isPasted: false,
      pauseMs: 60,
      submit: '\r',
      startMs: 4_000,
      finishMs: 20_000,
    });
    expect(agent.isEstimated).toBeUndefined();
  });

  it.each([
    [undefined, '', undefined],
    [[], '', '[]'],
    [{ command: 'x' }, 'name', undefined],
    [{ ...least, name: 'Toy Agent' }, 'name', '"Toy Agent"'],
    [{ ...least, command: '/usr/bin/toy' }, 'command', '"/usr/bin/toy"'],
    [{ ...least, window: -1 }, 'window', '-1'],
    [{ ...least, window: [{ pattern: 'x' }] }, 'window.0.tokens', undefined],
    [{ ...least, log: { globs: ['a/*.jsonl'], used: ['a'] } }, 'log.globs.0', '"a/*.jsonl"'],
    [{ ...least, log: { globs: '~/a/../b', used: 'a' } }, 'log.globs', '"~/a/../b"'],
    [{ ...least, log: { globs: '~/a/{pid}/b', used: 'a' } }, 'log.globs', '"~/a/{pid}/b"'],
    [{ ...least, log: { globs: '~/a/x', used: ['a..b'] } }, 'log.used.0', '"a..b"'],
    [{ ...least, log: { globs: '~/a/x', used: [] } }, 'log.used', '[]'],
    [
      { ...least, log: { globs: '~/x', used: 'a', boundary: { where: { path: 'a', equals: {} } } } },
      'log.boundary.where.equals',
      '{}',
    ],
    [
      { ...least, screen: { region: 'last-rows:0', pattern: '(a)', polarity: 'used', unit: 'tokens' } },
      'screen.region',
      '"last-rows:0"',
    ],
    [
      { ...least, screen: [{ region: 'cursor-row', pattern: 'a', polarity: 'used', unit: 'tokens' }] },
      'screen.0.pattern',
      '"a"',
    ],
    [
      { ...least, screen: [{ region: 'cursor-row', pattern: '(a+', polarity: 'used', unit: 'tokens' }] },
      'screen.0.pattern',
      '"(a+"',
    ],
    [
      { ...least, screen: [{ region: 'cursor-row', pattern: '(a)', polarity: 'free', unit: 'tokens' }] },
      'screen.0.polarity',
      '"free"',
    ],
    [{ ...least, activity: { ready: { absent: ['x'] } } }, 'activity.ready', '{"absent":["x"]}'],
    [
      { ...least, activity: { busy: [{ region: 'cursor-row' }] } },
      'activity.busy.0',
      '{"region":"cursor-row"}',
    ],
    [{ ...least, recipe: {} }, 'recipe.command', undefined],
    [{ ...least, recipe: { command: '' } }, 'recipe.command', '""'],
    [{ ...least, recipe: { command: ' /compact' } }, 'recipe.command', '" /compact"'],
    [{ ...least, recipe: { command: '/a\n/b' } }, 'recipe.command', String.raw`"/a\n/b"`],
    [{ ...least, recipe: { command: '/a\r' } }, 'recipe.command', String.raw`"/a\r"`],
    [{ ...least, recipe: { command: '\x1b[200~/a' } }, 'recipe.command', String.raw`"\u001b[200~/a"`],
    [{ ...least, recipe: { command: '/a\u2028b' } }, 'recipe.command', '"/a\u2028b"'],
    [{ ...least, recipe: { command: '/a\u202eb' } }, 'recipe.command', '"/a\u202eb"'],
    [{ ...least, recipe: { command: 'x'.repeat(101) } }, 'recipe.command', `"${'x'.repeat(59)}…`],
    [{ ...least, recipe: { command: '/a', submit: '\r' } }, 'recipe.submit', String.raw`"\r"`],
    [{ ...least, recipe: { command: '/a', submit: 'escape' } }, 'recipe.submit', '"escape"'],
    [{ ...least, recipe: { command: '/a', pauseMs: 0 } }, 'recipe.pauseMs', '0'],
    [{ ...least, recipe: { command: '/a', startMs: 90_000 } }, 'recipe.startMs', '90000'],
    [{ ...least, recipe: { command: '/a', finishMs: 10 } }, 'recipe.finishMs', '10'],
    [{ ...least, recipe: { command: '/a', paste: 'yes' } }, 'recipe.paste', '"yes"'],
    [{ ...least, prompt: '^> .*$' }, 'prompt', '"^> .*$"'],
    [{ ...least, prompt: '^(>) (.*)$' }, 'prompt', '"^(>) (.*)$"'],
    [{ ...least, nativeTrigger: { share: 90, reserveTokens: 0 } }, 'nativeTrigger.share', '90'],
  ])('%j is wrong at "%s", where %s was given', (value, path, given) => {
    expect(problemsOf(value)).toEqual([
      expect.objectContaining({ path, ...(given === undefined ? {} : { given }) }),
    ]);
  });

  it('is told of a value that is too deep to be written down', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    expect(problemsOf({ name: 'toy', command: 'toy', npmPackage: deep })).toEqual([
      {
        path: 'npmPackage',
        given: expect.stringMatching(/^(something that is nested too deep|\[{20,60}…)$/), // newer Node can write it down
        allowed: 'a text',
      },
    ]);
  });

  it('is told all its mistakes at once, with the names that a wrong one could have meant', () => {
    const log = { glob: ['~/x'], used: 'a' };
    const problems = problemsOf({ name: 'toy', comand: 'x', log });
    expect(problems.map(({ path }) => path).toSorted()).toEqual([
      'comand',
      'command',
      'log.glob',
      'log.globs',
    ]);
    expect(problems.find(({ path }) => path === 'log.glob')?.known).toContain('globs');
  });

  it('has no recipe without a prompt to see what was typed', () => {
    const recipe = { command: '/compact', submit: 'tab', paste: true, takesFocus: true };
    expect(define({ ...least, recipe }).recipe).toBeUndefined();
    expect(define({ ...least, recipe, prompt: '^> (.*)$' }).recipe?.({})).toEqual({
      command: '/compact',
      takesFocus: true,
      isPasted: true,
      pauseMs: 150,
      submit: '\t',
      startMs: 5_000,
      finishMs: 120_000,
    });
  });

  it('is told all that is wrong with its recipe at once', () => {
    const recipe = { command: 'a\tb', submit: 'space', pauseMs: -1, keys: '\x1b' };
    const paths = problemsOf({ ...least, recipe, prompt: '>' }).map(({ path }) => path);
    expect(paths.toSorted()).toEqual([
      'prompt',
      'recipe.command',
      'recipe.keys',
      'recipe.pauseMs',
      'recipe.submit',
    ]);
  });

  it('may be any value at all without harm', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const defined = defineAgent(value, makeTimeLimit());
        const parts = { log: value, screen: value, activity: value, window: value, recipe: value };
        const spread = defineAgent({ ...toy, ...parts }, makeTimeLimit());
        return 'problems' in defined || 'runtime' in defined || 'problems' in spread;
      }),
    );
  });
});
