// What the documents say of the command line.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../src/cli/program.js';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const help = (...words: readonly string[]): string => {
  const request = parseArguments([...words, '--help'], '1');
  return request.kind === 'print' ? request.text : '';
};
const flagsIn = (text: string): readonly string[] => [...new Set(text.match(/--[a-z][a-z-]+/g))];

describe('the documents', () => {
  it('name every option that --help names, and no other', () => {
    const [told, known] = [flagsIn(read('docs/options.md').split('\n## ')[0] ?? ''), flagsIn(help())];
    expect(told.toSorted()).toEqual(known.toSorted());
  });

  it('name every command in the README', () => {
    const commands = [...(help().split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z]+)(?: |$)/gm)].map(
      ([, name]) => name,
    );
    expect(commands.length).toBeGreaterThan(8);
    const text = read('README.md');
    expect(
      commands.filter((name) => !new RegExp(`^ctxwrap (?:\\[options\\] )?${name}\\b`, 'm').test(text)),
    ).toEqual([]);
  });

  it('have a README of 200 to 300 lines, whose links lead somewhere', () => {
    const text = read('README.md');
    const lines = text.split('\n').length;
    expect(lines).toBeGreaterThanOrEqual(200);
    expect(lines).toBeLessThanOrEqual(301);
    for (const [, path = ''] of text.matchAll(/\]\(([a-z][^)#]*)/gi)) expect(read(path)).not.toBe('');
  });
});
