import { setTimeout as wait } from 'node:timers/promises';
import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { modeSequences } from '../../src/demo/draw.js';
import { onStage } from './stage.js';

const idle = (screen: string): boolean => screen.includes('/quit') && !screen.includes('esc to interrupt');

describe('a scripted agent', () => {
  it('plays the user and the agent in the order of the script', async () => {
    const script = [
      { step: 'wait', until: 'idle' },
      { step: 'fill', usedTokens: 150_000 },
      { step: 'type', text: 'hello', everyMs: 1 },
      { step: 'key', key: 'enter' },
      { step: 'wait', until: 'idle' },
      { step: 'say', text: 'one more thing' },
      { step: 'wait', until: 'idle' },
      { step: 'compact' },
      { step: 'wait', until: 'idle' },
      { step: 'log', line: '{"type":"odd"}' },
      { step: 'exit', code: 7 },
    ];
    await onStage({ script }, async ({ ended, log, rows }) => {
      expect(await ended).toMatchObject({ exitCode: 7 });
      expect(rows('all').join('\n')).toContain('● one more thing');
      expect(log()).toMatchObject([
        { type: 'turn', usedTokens: 150_000 },
        { type: 'turn' },
        { type: 'compaction', trigger: 'agent' },
        { type: 'odd' },
      ]);
    });
  });

  it.each([
    { how: { signal: 'SIGSEGV' }, ending: { signal: constants.signals.SIGSEGV } },
    { how: { signal: 'SIGKILL', half: true }, ending: { signal: constants.signals.SIGKILL } },
    { how: { code: 3 }, ending: { exitCode: 3 } },
  ])('crashes with $how and restores nothing', async ({ how, ending }) => {
    await onStage({ script: [{ step: 'crash', ...how }] }, async ({ ended, bytes, terminal }) => {
      expect(await ended).toMatchObject(ending);
      const after = bytes().slice(bytes().indexOf(modeSequences.alternateScreen));
      for (const sequence of Object.values(modeSequences)) expect(after).toContain(sequence);
      expect(after).not.toMatch(/\x1b\[\?(?!25l)[\d;]+l/); // but the hidden cursor, nothing is turned off
      expect(terminal.buffer.active.type).toBe('alternate');
      expect(terminal.modes.mouseTrackingMode).toBe('any');
      expect(terminal.modes.bracketedPasteMode).toBe(true);
    });
  });

  it('keeps a dialog that no key closes', async () => {
    const keys = ['enter', 'escape', 'ctrl-c'].map((key) => ({ step: 'key', key }));
    const played = { step: 'write', text: 'PLAYED' };
    const script = [{ step: 'dialog', command: 'make', stuck: true }, ...keys, played];
    await onStage({ script }, async ({ until, signal, ended, rows }) => {
      await until('PLAYED');
      expect(rows().join('\n')).toContain('Do you want to run make?');
      expect(rows().join('\n')).not.toContain('⎿');
      signal('SIGTERM');
      expect(await ended).toMatchObject({ signal: constants.signals.SIGTERM });
    });
  });

  it('is never idle, and answers only to signals that it does not ignore', async () => {
    const script = [{ step: 'ignore', signals: ['SIGTERM', 'SIGINT'] }, { step: 'never-idle' }];
    await onStage({ script }, async ({ until, type, signal, ended }) => {
      await until('(2s · esc to interrupt)');
      signal('SIGTERM');
      signal('SIGINT');
      type('\x1bdraft\r');
      await until('│ > draft');
      await until((screen) => /\(\d\ds · esc to interrupt\)/.test(screen));
      signal('SIGKILL');
      expect(await ended).toMatchObject({ signal: constants.signals.SIGKILL });
    });
  });

  it('writes a burst of numbered lines without losing one, and lives on', async () => {
    const script = [{ step: 'burst', megabytes: 2 }, { step: 'wait', until: 'idle' }, { step: 'exit' }];
    await onStage({ script }, async ({ ended, bytes }) => {
      expect(await ended).toMatchObject({ exitCode: 0 });
      const numbers = (bytes().match(/\d{9}(?= burst)/g) ?? []).map((line) => Number.parseInt(line, 10));
      expect(numbers).toEqual(Array.from({ length: 32_768 }, (_, line) => line));
    });
  });

  it('turns modes on and never off, also when a signal ends it', async () => {
    const script = [{ step: 'modes', names: ['mouse', 'alternateScreen'] }];
    await onStage({ script }, async ({ until, terminal, signal, ended }) => {
      await until(() => terminal.modes.mouseTrackingMode === 'any');
      signal('SIGTERM');
      expect(await ended).toMatchObject({ signal: constants.signals.SIGTERM });
      expect(terminal.buffer.active.type).toBe('alternate');
      expect(terminal.modes.mouseTrackingMode).toBe('any');
    });
  });

  it('hangs on Ctrl-Z as Claude does, and comes back on SIGCONT', async () => {
    await onStage({ script: [{ step: 'suspend-hang' }] }, async ({ until, type, signal, rows }) => {
      await until(idle);
      type('\x1a');
      await until('The demo agent has been suspended. Run `fg`');
      type('lost\r');
      await wait(500); // what is swallowed leaves nothing that could be awaited
      signal('SIGCONT');
      await until(idle);
      type('back');
      await until('│ > back');
      expect(rows().join('\n')).not.toContain('> lost');
    });
  });

  it('writes no session log when told so', async () => {
    const script = [
      { step: 'no-log' },
      { step: 'say', text: 'hi' },
      { step: 'wait', until: 'idle' },
      { step: 'exit' },
    ];
    await onStage({ script }, async ({ ended, log }) => {
      expect(await ended).toMatchObject({ exitCode: 0 });
      expect(log()).toEqual([]);
    });
  });

  it('closes its output and lives on', async () => {
    await onStage({ script: [{ step: 'close-output', ms: 100 }] }, async ({ ended }) => {
      expect(await ended).toMatchObject({ exitCode: 0 });
    });
  });
});
