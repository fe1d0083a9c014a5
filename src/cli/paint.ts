import type { Tier } from '../core/ladder.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Puts colour around text that is already measured and cut. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly tier: (tier: Tier | undefined, text: string) => string;
}

const sgr =
  (on: string, off: string) =>
  (text: string): string =>
    text === '' ? '' : `\x1b[${on}m${text}\x1b[${off}m`;

const colours: Readonly<Record<Tier, string>> = { safe: '32', warn: '33', auto: '35', hard: '31' };

const same = (text: string): string => text;

export const noPaint: Paint = { bold: same, dim: same, tier: (_, text) => text };

const paint: Paint = {
  bold: sgr('1', '22'),
  dim: sgr('2', '22'),
  tier: (tier, text) => (tier === undefined ? text : sgr(colours[tier], '39')(text)),
};

/** Colour only for a terminal that wants it: https://no-color.org. */
export const paintFor = (isTerminal: boolean, env: Env): Paint =>
  isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb' ? paint : noPaint;
