import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { own, toPrintable } from '../../src/core/printable.js';
import { notificationSequence } from '../../src/terminal/notification.js';
import { makeEmulator } from '../support/emulator.js';
import { runs } from '../support/runs.js';

const call = { title: own`ctxwrap claude`, text: own`waits for you` };
const ST = '\x1b\\';
const osc9 = `\x1b]9;ctxwrap claude: waits for you${ST}`;
const osc99 = `\x1b]99;i=ctxwrap:d=0;ctxwrap claude${ST}\x1b]99;i=ctxwrap:p=body;waits for you${ST}`;
const osc777 = `\x1b]777;notify;ctxwrap claude;waits for you${ST}`;
const inTmux = (sequence: string): string => `\x1bPtmux;${sequence.replaceAll('\x1b', '\x1b\x1b')}${ST}\x07`;
const tmux = { TMUX: '/tmp/tmux-0/default,1,0', TERM: 'tmux-256color', TERM_PROGRAM: 'tmux' };

describe('a notification', () => {
  it.each<[string, Record<string, string>, string]>([
    ['kitty', { TERM: 'xterm-kitty' }, osc99],
    ['foot', { TERM: 'foot' }, osc777],
    ['foot', { TERM: 'foot-extra' }, osc777],
    ['Ghostty', { TERM: 'xterm-ghostty' }, osc777],
    ['Ghostty', { TERM: 'xterm-256color', TERM_PROGRAM: 'ghostty' }, osc777],
    ['WezTerm', { TERM: 'xterm-256color', TERM_PROGRAM: 'WezTerm' }, osc777],
    ['iTerm2', { TERM: 'xterm-256color', TERM_PROGRAM: 'iTerm.app' }, osc9],
    ['iTerm2 over ssh', { TERM: 'xterm-256color', LC_TERMINAL: 'iTerm2' }, osc9],
    ['Warp', { TERM: 'xterm-256color', TERM_PROGRAM: 'WarpTerminal' }, osc9],
    ['VTE, which may not know it', { TERM: 'xterm-256color', VTE_VERSION: '7600' }, `${osc777}\x07`],
    ['urxvt, which may not know it', { TERM: 'rxvt-unicode-256color' }, `${osc777}\x07`],
    ['kitty inside GNOME', { TERM: 'xterm-kitty', VTE_VERSION: '7600' }, osc99],
    ['xterm', { TERM: 'xterm-256color' }, '\x07'],
    ['xterm from kitty', { TERM: 'xterm-256color', KITTY_WINDOW_ID: '1' }, '\x07'],
    ['alacritty', { TERM: 'alacritty' }, '\x07'],
    ['VS Code', { TERM: 'xterm-256color', TERM_PROGRAM: 'vscode' }, '\x07'],
    ['the console', { TERM: 'linux' }, '\x07'],
    ['nothing that is known', {}, '\x07'],
    ['GNU screen', { TERM: 'screen', STY: '1.pts', TERM_PROGRAM: 'WezTerm' }, '\x07'],
    ['tmux in kitty', { ...tmux, KITTY_WINDOW_ID: '1' }, inTmux(osc99)],
    ['tmux in WezTerm', { ...tmux, WEZTERM_PANE: '0' }, inTmux(osc777)],
    ['tmux in iTerm2', { ...tmux, LC_TERMINAL: 'iTerm2' }, inTmux(osc9)],
    ['tmux in VTE', { ...tmux, VTE_VERSION: '7600' }, inTmux(osc777)],
    ['tmux in anything', tmux, '\x07'],
  ])('in %s', (_terminal, env, sequence) => {
    expect(notificationSequence(env, call)).toBe(sequence);
  });

  it('is the bell for a terminal in VT52 mode', () => {
    expect(notificationSequence({ TERM: 'xterm-kitty' }, call, true)).toBe('\x07');
  });

  it('cannot end a field or begin a progress bar', () => {
    expect(notificationSequence({ TERM: 'foot' }, { title: own`a;b`, text: own`c;d` })).toBe(
      `\x1b]777;notify;a,b;c,d${ST}`,
    );
    expect(notificationSequence({ TERM_PROGRAM: 'iTerm.app' }, { title: own`4;1`, text: own`50` })).toBe(
      `\x1b]9;4,1: 50${ST}`,
    );
  });

  it('draws nothing and contains no control character of its text', async () => {
    const envs = [
      { TERM: 'xterm-kitty' },
      { TERM: 'foot' },
      { TERM_PROGRAM: 'iTerm.app' },
      { ...tmux, VTE_VERSION: '1' },
    ];
    const text = fc.string({
      unit: fc.oneof(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
        fc.constantFrom('\x1b', '\x07', '\x9c', '\x9d', '\\', ';', '\n'),
      ),
      maxLength: 300,
    });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...envs), text, text, async (env, title, body) => {
        const sequence = notificationSequence(env, { title: toPrintable(title), text: toPrintable(body) });
        const inner = sequence.replaceAll(/\x1bPtmux;|\x1b+\](?:9|99|777);|\x1b+\\|\x07$/g, '');
        expect(inner).not.toMatch(/[\x00-\x1f\x7f-\x9f\p{Cf}]/u);
        expect(inner.length).toBeLessThan(1_000);
        const emulator = makeEmulator(40, 4);
        await emulator.write(`ab${sequence}cd`);
        const { active } = emulator.terminal.buffer;
        expect(active.getLine(0)?.translateToString(true)).toBe('abcd');
        expect([active.cursorX, active.cursorY]).toEqual([4, 0]);
        expect(emulator.answers()).toBe('');
      }),
      runs(100),
    );
  });
});
