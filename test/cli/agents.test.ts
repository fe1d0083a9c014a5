// `ctxwrap agents`, and the definitions that come with it.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/agents/defined/agent.js';
import { ctxwrapHere } from '../support/command-here.js';
import { ctxwrap, makeBench } from './launcher.js';
import type { Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

const config = (): string => join(bench.folder, '.config/ctxwrap/config.jsonc');
const file = (value: unknown, name = 'toy.json'): string => {
  const path = join(bench.folder, name);
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
};
const toy = { name: 'toy', command: 'toy-agent', note: 'tested with 1.0' };
const given = (text: string): void => {
  mkdirSync(join(bench.folder, '.config/ctxwrap'), { recursive: true });
  writeFileSync(config(), text);
};

describe('ctxwrap agents', () => {
  it('adds a definition to a new configuration, from which it is listed, shown and started', async () => {
    const { code, stdout } = await ctxwrap(['agents', 'add', file(toy)], bench);
    expect(code).toBe(0);
    expect(stdout).toBe(
      'added toy in ~/.config/ctxwrap/config.jsonc\nstart it with: ctxwrap toy\nctxwrap shows its numbers, and types nothing\ntested with 1.0\n',
    );
    expect(JSON.parse((await ctxwrapHere(['agents', 'show', 'toy'], bench)).stdout)).toEqual(toy);
    expect((await ctxwrapHere(['agents'], bench)).stdout).toMatch(
      /^toy +toy-agent +your configuration +tested/m,
    );
    bench.program('toy-agent', '#!/bin/sh\necho hello from toy\n');
    expect((await ctxwrap(['toy'], bench)).stdout).toBe('hello from toy\n');
    expect((await ctxwrapHere(['agents', 'add', file(toy)], bench)).stdout).toContain('already in');
  });

  it.each([[['bla']], [['list', 'bla']]])('names the commands where it is given %j', async (words) => {
    const { code, stderr } = await ctxwrapHere(['agents', ...words], bench);
    expect(code).toBe(2);
    expect(stderr).toContain('agents has no command "bla"');
    expect(stderr).toContain('agents add FILE');
  });

  it('keeps everything else in the file, comments included', async () => {
    given(
      '// mine\n{\n  "warn": "70%", // early\n  "runtimes": {\n    // another\n    "old": { "command": "old" } // old\n  }\n}\n',
    );
    await ctxwrapHere(['agents', 'add', file(toy)], bench);
    const text = readFileSync(config(), 'utf8');
    for (const part of ['// mine', '// early', '// another', '// old', '"old": { "command": "old" }'])
      expect(text).toContain(part);
    expect((await ctxwrapHere(['config', 'check'], bench)).code).toBe(0);
    expect((await ctxwrapHere(['agents', 'show', 'toy'], bench)).code).toBe(0);
    expect((await ctxwrapHere(['agents', 'show', 'old'], bench)).code).toBe(0);
  });

  it('lists and starts a whole definition of one’s own under a built-in name, as it was before ctxwrap knew that agent', async () => {
    const own = { command: 'own-code', screen: [{ region: 'last-rows:2' }], note: 'mine' };
    given(JSON.stringify({ runtimes: { opencode: own, claude: { command: 'claude-nightly' } } }));
    expect((await ctxwrapHere(['config', 'check'], bench)).code).toBe(0);
    const { stdout } = await ctxwrapHere(['agents'], bench);
    expect(stdout).toMatch(/^opencode +own-code +your configuration +mine$/m);
    expect(stdout.match(/^opencode/gm)).toHaveLength(1);
    bench.program('own-code', '#!/bin/sh\necho hello from my own\n');
    expect((await ctxwrap(['opencode'], bench)).stdout).toBe('hello from my own\n');
  });

  it('never takes the place of another one unasked, and then keeps the text before', async () => {
    await ctxwrapHere(['agents', 'add', file(toy)], bench);
    const before = readFileSync(config(), 'utf8');
    const other = file({ ...toy, command: 'other' }, 'other.json');
    const refused = await ctxwrapHere(['agents', 'add', other], bench);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`ctxwrap agents add --replace ${other}`);
    expect(readFileSync(config(), 'utf8')).toBe(before);
    expect((await ctxwrapHere(['agents', 'add', '--replace', other], bench)).stdout).toMatch(
      /^replaced toy in .*config\.jsonc\.bak\n/,
    );
    expect(readFileSync(`${config()}.bak`, 'utf8')).toBe(before);
    expect(JSON.parse((await ctxwrapHere(['agents', 'show', 'toy'], bench)).stdout).command).toBe('other');
  });

  it.each([
    ['what is no JSON', '{ "name": ', /not JSON/],
    ['every wrong field at once', { name: 'Toy', command: '/bin/toy' }, /name: must be[^]*command: must be/],
    ['the name of a built-in agent', { name: 'claude', command: 'x' }, /name claude is taken/],
    ['the name of a command', { name: 'ps', command: 'x' }, /name ps is taken/],
  ])('refuses %s, and writes nothing', async (_, value, message) => {
    const { code, stderr } = await ctxwrapHere(['agents', 'add', file(value)], bench);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(existsSync(config())).toBe(false);
  });

  it('leaves a configuration with a mistake as it is, and says where it is', async () => {
    given('{ "warn": }');
    const { code, stderr } = await ctxwrapHere(['agents', 'add', file(toy)], bench);
    expect(code).not.toBe(0);
    expect(stderr).toContain('line 1');
    expect(readFileSync(config(), 'utf8')).toBe('{ "warn": }');
  });

  it('never writes into a project', async () => {
    writeFileSync(join(bench.folder, '.ctxwrap.jsonc'), '{}');
    await ctxwrapHere(['agents', 'add', file(toy)], bench);
    expect(readFileSync(join(bench.folder, '.ctxwrap.jsonc'), 'utf8')).toBe('{}');
  });

  it('lists and adds the definitions that come with it, with what was tested', async () => {
    const { agents } = JSON.parse((await ctxwrap(['agents', 'list', '--json'], bench)).stdout);
    const ready = agents.filter(({ from }: { from: string }) => from === 'ready to add');
    expect(ready.map(({ name }: { name: string }) => name)).toEqual(['aider', 'amp', 'crush', 'goose']);
    for (const { name, note } of ready) {
      expect(note).toMatch(/^Not tested/);
      expect((await ctxwrap(['agents', 'add', name], bench)).code).toBe(0);
    }
    expect((await ctxwrap(['config', 'check'], bench)).code).toBe(0);
  });

  it('says of a built-in agent that it has no definition, and of an unknown one what there is', async () => {
    expect((await ctxwrapHere(['agents', 'show', 'claude'], bench)).stderr).toContain('built into ctxwrap');
    expect((await ctxwrapHere(['agents', 'show', 'nobody'], bench)).stderr).toContain('ctxwrap agents list');
  });
});

describe('a definition that comes with ctxwrap', () => {
  const folder = fileURLToPath(new URL('../../agents/', import.meta.url));
  const limit = { run: <T>(work: () => T): T => work() } as never;

  it.each(readdirSync(folder))('%s is valid, and as long as it is not tested types nothing', (name) => {
    const value = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    const defined = defineAgent(value, limit);
    expect(defined).toHaveProperty('agent.name', name.replace('.json', ''));
    expect(value.note.startsWith('Not tested') && 'recipe' in value).toBe(false);
  });

  it.each([
    ['goose', 'Context: ●○○○○○○○○○ 8% (10000/128000 tokens)', '8'],
    ['amp', '╭─12% of 168k───smart─╮', '12'],
    ['aider', 'Tokens: 2.3k sent, 215 received.', '2.3k'],
  ])('%s finds its number in its own wording', (name, row, number) => {
    const { screen } = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
    expect(new RegExp(screen[0].pattern, 'u').exec(row)?.[1]).toBe(number);
  });
});
