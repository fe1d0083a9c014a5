import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../src/cli/program.js';
import { defaultValues } from '../../src/core/config/keys.js';
import { performed } from '../support/performed.js';

const parse = (...argv: string[]) => parseArguments(argv, '1.2.3');

/** What a command is asked, without what it does. */
const asked = (...argv: string[]) => ({ ...parse(...argv), perform: undefined });

describe('the agent word', () => {
  it('ends our options: everything after it is the agent’s', () => {
    expect(
      parse('--no-footer', 'claude', '-p', '--help', '--version', '--mode', 'x', '--', '-q'),
    ).toMatchObject({
      kind: 'run',
      word: 'claude',
      anyCommand: false,
      args: ['-p', '--help', '--version', '--mode', 'x', '--', '-q'],
      options: { flags: { footer: false }, values: { footer: false, mode: 'auto' } },
    });
  });

  it('may be followed by anything at all', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom('--', '-', '-p', '--help', 'demo'))),
        (args) => {
          expect(parse('claude', ...args)).toMatchObject({ word: 'claude', args, anyCommand: false });
          expect(parse('-q', '--', 'vim', ...args)).toMatchObject({ word: 'vim', args, anyCommand: true });
        },
      ),
    );
  });

  it('is any command after --, also one called like a word of ours', () => {
    expect(parse('--', 'demo', '--interactive')).toMatchObject({
      kind: 'run',
      word: 'demo',
      args: ['--interactive'],
      anyCommand: true,
    });
    expect(parse('--', '--', 'x')).toMatchObject({ word: '--', args: ['x'] });
  });

  it('is asked for when it is missing', () => {
    expect(() => parse()).toThrow('no agent was given');
    expect(() => parse('--no-footer')).toThrow('no agent was given');
    expect(() => parse('--')).toThrow('no command was given after --');
  });
});

describe('our options', () => {
  it('have these values when they are not given', () => {
    const request = parse('claude');
    expect(request.kind === 'run' && request.options).toEqual({
      flags: {},
      values: defaultValues,
      isModeGiven: false,
    });
    expect(defaultValues).toMatchObject({
      mode: 'auto',
      'claude.statusLine': 'auto',
      proactive: true,
      tips: true,
      footer: true,
      hotkey: 0x1d,
    });
  });

  it('are read in all their forms', () => {
    const request = parse(
      ...'--mode=off --window 200k --runtime codex --claude-status-line on --no-footer --record a.cast'.split(
        ' ',
      ),
      ...'--record-input --hotkey none --log b.log -q'.split(' '),
      ...'--draft stash --when-busy queue --focus tests --no-proactive --watch-omc'.split(' '),
      ...'--no-tips --footer-items tier,bar --theme dark'.split(' '),
      ...'--ladder percent --warn 60% --auto 150k --hard 180_000 -- bash'.split(' '),
    );
    const flags = {
      mode: 'off',
      window: 200_000,
      ladder: 'percent',
      warn: { value: 60, unit: 'percent' },
      auto: { value: 150_000, unit: 'tokens' },
      hard: { value: 180_000, unit: 'tokens' },
      'claude.statusLine': 'on',
      draft: 'stash',
      whenBusy: 'queue',
      focus: 'tests',
      proactive: false,
      'watch.omc': true,
      tips: false,
      footer: false,
      'footer.items': ['tier', 'bar'],
      theme: { preset: 'dark' },
      hotkey: 'none',
      log: 'b.log',
      quiet: true,
    };
    expect(request.kind === 'run' && request.options).toEqual({
      flags,
      values: { ...defaultValues, ...flags },
      isModeGiven: true,
      runtime: { name: 'codex' },
      record: 'a.cast',
      recordInput: true,
    });
  });

  it('stand before the demo, its own after it', () => {
    expect(parse('--no-footer', 'demo', '--interactive')).toMatchObject({
      name: 'demo',
      asked: { interactive: true },
      options: { values: { footer: false } },
    });
    expect(parse('demo')).toMatchObject({ name: 'demo', asked: { interactive: false } });
  });

  it('print the help and the version', () => {
    expect(parse('--version')).toEqual({ kind: 'print', text: '1.2.3\n' });
    const help = parse('--help');
    expect(help.kind === 'print' && help.text).toContain('ctxwrap [options] <agent> [agent args...]');
    expect(help.kind === 'print' && help.text).toContain('--record-input');
    expect(parse('help')).toEqual(help);
    expect(parse('help', '--all')).toMatchObject({ text: expect.stringContaining('Try and test:') });
    expect(parse('help', 'demo')).toEqual(parse('demo', '--help'));
    expect(parse('demo', '--help')).toMatchObject({ text: expect.stringContaining('--interactive') });
  });
});

describe('other names of commands', () => {
  it('print the version, and list the sessions', () => {
    expect(parse('version')).toEqual(parse('--version'));
    for (const name of ['ls', 'status']) {
      expect(asked(name)).toEqual(asked('ps'));
      expect(asked('-q', name, '--all', '--json')).toEqual(asked('-q', 'ps', '--all', '--json'));
      expect(() => parse(name, '--jsn')).toThrow(
        expect.objectContaining({ message: `unknown option "--jsn" of ctxwrap ${name}` }),
      );
    }
  });

  it('are listed nowhere', async () => {
    const lists = [parse('--help'), parse('man')].map((each) => (each.kind === 'print' ? each.text : ''));
    for (const text of lists)
      expect(text).not.toMatch(/^(?: {2}|\.B )(?:version(?! {2,}version of)|ls|status)\b/m);
    const lines = String(await performed(parse('complete', '='))).split('\n');
    const found = lines.map((line) => line.split('\t')[0]);
    expect(found).toContain('ps');
    for (const name of ['version', 'ls', 'status', 'receipt', 'brief']) expect(found).not.toContain(name);
  });
});

describe('a wrong option', () => {
  it.each([
    [['--recrod', 'x', 'claude'], 'unknown option "--recrod"', 'did you mean --record?'],
    [['--no-foter', 'claude'], 'unknown option "--no-foter"', 'did you mean --no-footer?'],
    [['-p', 'claude'], 'unknown option "-p"', 'options of the agent go after its name: ctxwrap claude -p'],
    [['--mode'], 'option --mode <mode> needs a value', 'see ctxwrap --help'],
    [
      ['--window', '5', 'claude'],
      '--window must be a number of tokens from 1k to 10M, got "5"',
      'try --window 1k',
    ],
    [['--record', '', 'claude'], '--record must be the name of a file, got ""', 'try --record session.cast'],
    [['--log=', 'claude'], '--log must be the name of a file, got ""', 'try --log ctxwrap.log'],
    [
      ['--record-input', 'claude'],
      '--record-input needs a recording',
      'try --record session.cast --record-input',
    ],
    [
      ['--record-input', '--', 'bash'],
      '--record-input needs a recording',
      'try --record session.cast --record-input',
    ],
    [['--nope', '--', 'bash'], 'unknown option "--nope"', expect.any(String)],
    [
      ['demo', '--interactiv'],
      'unknown option "--interactiv" of ctxwrap demo',
      'did you mean --interactive?',
    ],
    [['help', 'dmeo'], 'there is no command "dmeo"', 'try ctxwrap help demo'],
    [
      ['help', 'history', 'shwo'],
      'there is no command "shwo" of ctxwrap history',
      'try ctxwrap help history show',
    ],
    [['help', 'ps', 'x'], 'there is no command "x" of ctxwrap ps', 'see ctxwrap help ps'],
    [['demo', 'more'], 'ctxwrap demo takes no arguments, got "more"', 'see ctxwrap demo --help'],
    [['ps', '0f3a'], 'ctxwrap ps lists all sessions, got "0f3a"', 'for one session: ctxwrap context 0f3a'],
    [
      ['history', 'show', '0f3a', '2'],
      'ctxwrap history show takes only 1 argument, got "2" as well',
      'see ctxwrap history show --help',
    ],
    [['checkpoint', 'show'], 'ctxwrap checkpoint show needs <id>', 'see ctxwrap checkpoint show --help'],
    [['undo', '--run', '--json'], '--run cannot be combined with --json', 'use only one of them'],
    [['report', '--html'], 'option --html <file> needs a value', 'see ctxwrap report --help'],
  ])('%j is refused with what would be right', (argv, message, hint) => {
    expect(() => parse(...argv)).toThrow(expect.objectContaining({ message, hint, exitCode: 2 }));
  });
});

describe('compact', () => {
  it('waits for the outcome and forces nothing, unless it is told otherwise', () => {
    const plain = parse('compact');
    expect(plain).toMatchObject({ name: 'compact', asked: { force: false, json: false, wait: true } });
    expect(plain).not.toHaveProperty('asked.target');
    expect(plain).not.toHaveProperty('asked.focus');
    expect(parse('-q', 'compact', '4711', '-f', '--no-wait', '--json', '--focus', 'a\nb')).toMatchObject({
      name: 'compact',
      asked: { target: '4711', force: true, focus: 'a b', json: true, wait: false },
      options: { values: { quiet: true } },
    });
  });

  it('is also asked for by OMC, where the user has said so', () => {
    expect(parse('--watch-omc', 'claude')).toMatchObject({
      kind: 'run',
      options: { values: { 'watch.omc': true } },
    });
  });
});
