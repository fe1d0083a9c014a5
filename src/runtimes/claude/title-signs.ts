import type { TitleSigns } from '../../core/title-signs.js';
import { parseAgentState } from '../agent-state.js';
import type { Env } from '../place.js';
import { meaningOf } from './own-word.js';

/*
 * The sign before the name in the title of Claude Code 2.1.330. Seen: `✳ ` at rest and in dialogs, `◐ ` and `◑ ` in turns while it works,
 * every 960 ms, as long as the terminal has the focus; in a multiplexer always `✳ `. Read in its program: `* ` and `> ` where it draws
 * with ASCII. Once its question `OSC 7501;?` is answered, it sets the name alone.
 */

const FRAME_MS = 960;

const isInMultiplexer = (env: Env): boolean =>
  ['TMUX', 'STY', 'ZELLIJ'].some((name) => (env[name] ?? '') !== '');

export const titleSigns = (env: Env): TitleSigns => ({
  sets: [
    { rest: '✳', busy: isInMultiplexer(env) ? ['✳'] : ['◐', '◑'] },
    { rest: '*', busy: isInMultiplexer(env) ? ['*'] : ['>'] },
  ],
  frameMs: FRAME_MS,
  isWorking: (told) => {
    const said = told.includes(':id=') ? undefined : parseAgentState(told); // an id is a helper's
    return said && meaningOf(said) === 'busy';
  },
});
