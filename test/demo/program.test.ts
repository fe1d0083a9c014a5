import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { withDemo } from './demo-terminal.js';
import { eventually } from '../support/eventually.js';

const idle = (screen: string): boolean => screen.includes('/quit') && !screen.includes('esc to interrupt');
const turns = (log: readonly Record<string, unknown>[]) => log.filter((record) => record['type'] === 'turn');

describe('by itself', () => {
  it('fills up to hard where nobody compacts it, and quits', async () => {
    await withDemo({ args: ['--pace', '20'] }, async ({ ended, rows, log, terminal }) => {
      expect(await ended).toMatchObject({ exitCode: 0 });
      const text = rows('all').join('\n');
      expect(text).toContain('Run npm test');
      expect(text.trimEnd()).toMatch(/Goodbye\.$/);
      expect(text.match(/> Fix it\./g)).toHaveLength(1); // every line once in the scrollback
      expect(text).not.toMatch(/[╭│╰]/); // no remains of the live rows
      const used = turns(log()).map((record) => record['usedTokens'] as number);
      expect(Math.max(...used)).toBe(179_000);
      expect(terminal.modes.bracketedPasteMode).toBe(false);
    });
  });

  it('plays without a session log when there is no place for it', async () => {
    await withDemo(
      { args: ['--pace', '40'], log: false, env: { CTXWRAP_DEMO_LOG: '' } },
      async ({ ended, log }) => {
        expect(await ended).toMatchObject({ exitCode: 0 });
        expect(log()).toEqual([]);
      },
    );
  });
});

const interactive = { args: ['--interactive', '--pace', '20'] };

describe('at the keyboard', () => {
  it('shows a draft while it is typed and edited, with the cursor behind it', async () => {
    await withDemo(interactive, async ({ until, type, terminal, log }) => {
      await until(idle);
      type('hello wörld 日本');
      await until('│ > hello wörld 日本');
      await until(() => terminal.buffer.active.cursorX === 4 + 'hello wörld '.length + 4);
      type('\x7f\x7f\x7f');
      await until('│ > hello wörld ');
      type('\x15');
      await until((screen) => /│ > {10}/.test(screen));
      type('\x1b[200~pasted\ntext\x1b[201~');
      await until('│ > pasted text');
      type(`\x1b[200~${'long '.repeat(20_000)}end\x1b[201~`);
      await until('long long end  │');
      expect(log()).toEqual([]); // none of it was submitted
    });
  });

  it('answers a prompt and adds the turn to its log', async () => {
    await withDemo(interactive, async ({ until, type, log, rows }) => {
      await until(idle);
      type('hello\r');
      await until('esc to interrupt');
      await until((screen) => idle(screen) && screen.includes('● I am a simulator'));
      expect(rows()).toContain('> hello');
      const turn = { type: 'turn', usedTokens: 34_490, windowTokens: 200_000, model: 'simulated' };
      await eventually(() => expect(turns(log())).toEqual([{ ...turn, at: expect.any(Number) }]));
      expect(log()[0]).toMatchObject({ type: 'prompt', text: 'hello' });
    });
  });

  it.each([
    { keys: '\r', does: 'approves', shows: '└ done' },
    { keys: '1', does: 'approves', shows: '└ done' },
    { keys: '\x1b', does: 'denies', shows: '└ denied' },
    { keys: '\x1b[B\r', does: 'denies', shows: '└ denied' },
  ])('asks before it runs a command; $keys $does', async ({ keys, shows }) => {
    await withDemo(interactive, async ({ until, type, rows }) => {
      await until(idle);
      type('run make\r');
      await until('Do you want to run make?');
      await until('❯ 1. Yes');
      type(keys);
      await until((screen) => screen.includes(shows) && idle(screen));
      expect(rows().join('\n')).not.toContain('❯');
    });
  });

  it('compacts on /compact', async () => {
    await withDemo(interactive, async ({ until, type, log, bytes }) => {
      await until(idle);
      type('hello\r');
      await until((screen) => idle(screen) && screen.includes('● I am'));
      type('/compact\r');
      await until('Compacted 34k → 13k');
      expect(bytes()).toContain('Compacting conversation…'); // on a busy machine it is over before the screen is looked at
      await eventually(() => expect(log().at(-1)).toMatchObject({ type: 'compaction', preTokens: 34_490 }));
    });
  });

  it.each([['\x03\x03'], ['\x04'], ['/quit\r']])('quits on %j and restores the terminal', async (keys) => {
    await withDemo(interactive, async ({ until, type, ended, terminal, rows, bytes }) => {
      await until(idle);
      expect(terminal.modes.bracketedPasteMode).toBe(true);
      type(keys);
      expect(await ended).toMatchObject({ exitCode: 0 });
      expect(terminal.modes.bracketedPasteMode).toBe(false);
      expect(bytes().lastIndexOf('\x1b[?25h')).toBeGreaterThan(bytes().lastIndexOf('\x1b[?25l'));
      expect(rows().join('\n').trimEnd()).toMatch(/Goodbye\.$/);
    });
  });

  it('shows its activity in the title', async () => {
    await withDemo(interactive, async ({ until, type, terminal }) => {
      const titles: string[] = [];
      terminal.onTitleChange((title) => titles.push(title));
      await until(idle);
      type('hello\r');
      await until(() => titles.includes('⠂ demo'));
      await until((screen) => screen.includes('● I am') && titles.at(-1) === '✳ demo');
      expect(titles[0]).toBe('✳ demo');
    });
  });

  it('draws its window anew in every size', async () => {
    await withDemo(interactive, async ({ until, type, resize, rows }) => {
      await until(idle);
      type('hello\r');
      await until((screen) => idle(screen) && screen.includes('● I am'));
      for (const [columns, height] of [
        [40, 24],
        [100, 24],
        [100, 12],
        [60, 30],
        [20, 8],
      ] as const) {
        resize(columns, height);
        await until((screen) =>
          screen.split('\n').some((row) => row.startsWith(`╭${'─'.repeat(columns - 3)}╮`)),
        );
        expect(rows().filter((row) => row.startsWith('╭'))).toHaveLength(1);
      }
    });
  });

  it('redraws its prompt when it is continued after a stop', async () => {
    await withDemo(interactive, async ({ until, type, signal, terminal }) => {
      await until(idle);
      type('half');
      await until('│ > half');
      terminal.reset(); // stands for another program's use of the terminal
      signal('SIGCONT');
      await until('│ > half');
      expect(terminal.modes.bracketedPasteMode).toBe(true);
    });
  });

  it('ends by the signal that it is sent, with the terminal restored', async () => {
    await withDemo(interactive, async ({ until, signal, ended, terminal }) => {
      await until(idle);
      signal('SIGTERM');
      expect(await ended).toMatchObject({ signal: constants.signals.SIGTERM });
      expect(terminal.modes.bracketedPasteMode).toBe(false);
    });
  });

  it('restores the terminal also when the signal arrives with its first output', async () => {
    const atFirst = `const{write}=process.stdout;process.stdout.write=(...a)=>{process.stdout.write=write;process.stdout.write(...a);process.kill(process.pid,'SIGTERM')}`;
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(atFirst)}` };
    await withDemo({ ...interactive, env }, async ({ ended, terminal, bytes }) => {
      expect(await ended).toMatchObject({ signal: constants.signals.SIGTERM });
      expect(bytes()).toContain('\x1b[?2004h');
      expect(terminal.modes.bracketedPasteMode).toBe(false);
    });
  });
});
