import { lookOf } from '../ui/look.js';
import type { Env } from '../ui/look.js';

const asciiSigns: Readonly<Record<string, string>> = {
  '█': '#',
  '▓': '=',
  '▒': ':',
  '░': '.',
  '▶': '>',
  '→': '>',
  '·': '-',
  '✓': 'ok',
  '✗': 'no',
  '…': '*', // a `~` would make a path of the end of one
};

/** The signs with which our texts are drawn, in a terminal that has no others than ASCII; the rest is the user's own. */
export const drawnFor = (text: string, env: Env): string =>
  lookOf(env, false, 0).ascii ? text.replace(/[█▓▒░▶→·✓✗…]/gu, (sign) => asciiSigns[sign] ?? sign) : text;
