import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownStatusLine } from '../support/own-status-line.js';
import { bin } from '../support/programs.js';
import { inTerminal, makeBench } from './launcher.js';
import type { Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
  installed('2.1.330');
});
afterEach(() => bench.remove());

/** As npm does it: a package, and a link to its program on PATH. */
const installed = (version: string): void => {
  const name = '@anthropic-ai/claude-code';
  const folder = join(bench.folder, 'node_modules', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version }));
  symlinkSync(bench.program(join('node_modules', name, 'cli.js'), agent), join(bench.folder, 'claude'));
};

const report = {
  session_id: 'a',
  model: { id: 'claude-opus-4-8[1m]' },
  context_window: {
    context_window_size: 1_000_000,
    current_usage: { input_tokens: 3, cache_read_input_tokens: 463_000 },
    used_percentage: 46,
  },
};

/** Does with `--settings` what Claude does: runs the status line's command in sh and shows what it prints; ends after a line. */
const agent = `#!${process.execPath}
const { execFileSync } = require('node:child_process');
const { readFileSync } = require('node:fs');
const at = process.argv.indexOf('--settings');
const path = at < 0 ? undefined : process.argv[at + 1];
const command = path && JSON.parse(readFileSync(path, 'utf8')).statusLine?.command;
const line = command ? execFileSync('/bin/sh', ['-c', command], { input: ${JSON.stringify(JSON.stringify(report))} }) : 'none';
console.log('line: ' + line + ' args: ' + process.argv.slice(2).join(' ').replace(path, 'PATH') + ' ready>');
process.stdin.once('data', () => process.exit(5));
`;

const wrapped = (...args: string[]) => inTerminal(process.execPath, [bin, ...args], bench);
const state = () => join(bench.folder, '.local', 'state', 'ctxwrap', 'status-line');
const left = () => (existsSync(state()) ? readdirSync(state()) : []);

/** The user has a status line of their own. */
const withOwnLine = (command: string): void => {
  mkdirSync(join(bench.folder, '.claude'));
  const path = join(bench.folder, '.claude', 'settings.json');
  writeFileSync(path, JSON.stringify(ownStatusLine(command)));
};

describe("Claude's status line", () => {
  it('shows what the user wrote, and gives the footer the exact numbers', async () => {
    withOwnLine(`printf "it's "; tr -dc 0-9 | cut -c1-4`);
    const terminal = wrapped('claude', '-c');
    await terminal.seen(/line: it's \d{4}\s+args: --settings PATH -c ready>/);
    await terminal.seen(/46%.*463k\/1\.0M(?!\?)/);
    expect(left()).toHaveLength(2);
    terminal.type('\r');
    expect((await terminal.ended).exitCode).toBe(5);
    expect(left()).toEqual([]);
  });

  it('is asked in any case with on', async () => {
    const terminal = wrapped('--claude-status-line', 'on', 'claude');
    await terminal.seen(/line: {2}args: --settings PATH ready>/);
    await terminal.seen(/46%.*463k\/1\.0M(?!\?)/);
    terminal.type('\r');
    expect((await terminal.ended).exitCode).toBe(5);
  });

  it('is asked where the user has none and nothing else tells how large the window is', async () => {
    const terminal = wrapped('claude', '-c');
    await terminal.seen(/line: {2}args: --settings PATH -c ready>/);
    await terminal.seen(/46%.*463k\/1\.0M(?!\?)/);
    terminal.type('\r');
    expect((await terminal.ended).exitCode).toBe(5);
    expect(left()).toEqual([]);
  });

  it('is not asked where the user has none and has said the window: the launch has the hook for context alone', async () => {
    const terminal = wrapped('--window', '1M', 'claude', '-c');
    await terminal.seen(/line: none args: --settings PATH -c ready>/);
    const [name = ''] = left();
    const settings = JSON.parse(readFileSync(join(state(), name), 'utf8'));
    expect(Object.keys(settings)).toEqual(['hooks']);
    expect(Object.keys(settings.hooks)).toEqual(['UserPromptSubmit']);
    terminal.type('\r');
    expect((await terminal.ended).exitCode).toBe(5);
    expect(left()).toEqual([]);
  });

  it.each([
    { when: 'it is switched off', options: ['--claude-status-line', 'off'], own: true },
    { when: 'nothing is to be observed', options: ['--mode', 'off'], own: true },
  ])('is not touched when $when', async ({ options, own }) => {
    if (own) withOwnLine('date');
    const terminal = wrapped(...options, 'claude', '-c');
    await terminal.seen(/line: none args: -c ready>/);
    expect(left()).toEqual([]);
    terminal.type('\r');
    expect((await terminal.ended).exitCode).toBe(5);
  });
});

describe('an old Claude, which ends when it is given --settings', () => {
  it('starts, also where the user wants to have its status line asked', async () => {
    rmSync(join(bench.folder, 'claude'));
    installed('1.0.30');
    withOwnLine('date');
    const terminal = wrapped('--claude-status-line', 'on', 'claude', '-c');
    await terminal.seen(/line: none args: -c ready>/);
    terminal.type('\r');
    expect((await terminal.ended).exitCode).toBe(5);
  });
});
