import { fail, ok, warn } from '../../core/doctor-report.js';
import type { Check, CheckSection, TerminalAnswers } from '../../core/doctor-report.js';
import type { OwnTerminal } from '../../wrap/machine.js';
import { isOn } from '../transparency.js';

type Env = Readonly<Record<string, string | undefined>>;

const LEAST_NODE = 20; // as package.json says

export interface SystemFacts {
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  readonly env: Env;
  /** why the pseudo-terminal cannot be had; undefined when it can */
  readonly ptyFailure: string | undefined;
}

export const systemSection = ({ node, platform, arch, env, ptyFailure }: SystemFacts): CheckSection => ({
  title: 'System',
  checks: [
    Number.parseInt(node, 10) >= LEAST_NODE
      ? ok('node', `Node ${node}`)
      : fail('node', `Node ${node} is older than ${LEAST_NODE}`, `install Node ${LEAST_NODE} or newer`),
    platform === 'linux' || platform === 'darwin'
      ? ok('platform', `${platform} ${arch}`)
      : fail('platform', `${platform} is neither Linux nor macOS`, 'use ctxwrap on Linux or macOS'),
    ptyFailure === undefined
      ? ok('pty', 'a pseudo-terminal can be opened')
      : fail('pty', `no pseudo-terminal: ${ptyFailure}`, 'npm install -g ctxwrap'),
    ...switchedOff(env),
  ],
});

const switchedOff = (env: Env): readonly Check[] => [
  ...(isOn(env['CTXWRAP_DISABLE'])
    ? [
        warn(
          'disabled',
          'CTXWRAP_DISABLE is set: agents run with nothing in between',
          'unset CTXWRAP_DISABLE',
        ),
      ]
    : []),
  ...(env['CTXWRAP_SESSION']
    ? [ok('inside', `this shell is inside the session ${env['CTXWRAP_SESSION']}`)]
    : []),
];

const LEAST_ROWS = 8;
const LEAST_COLUMNS = 20; // with fewer the agent has all rows

/** `terminal` is undefined where input or output is none. */
export const terminalSection = (env: Env, terminal: OwnTerminal | undefined): CheckSection => {
  if (!terminal) {
    const text = 'input or output is no terminal, so it was not asked';
    return { title: 'Terminal', checks: [warn('terminal', text, 'run ctxwrap doctor in a terminal')] };
  }
  const { size, answers } = terminal;
  return {
    title: 'Terminal',
    checks: [kind(env, answers), room(size), answering(answers), colours(env), letters(env)],
  };
};

const kind = (env: Env, { name }: TerminalAnswers): Check => {
  const term = env['TERM'] ?? '';
  if (term === '' || term === 'dumb') {
    return fail('terminal', `TERM is "${term}": agents run unwrapped`, 'export TERM=xterm-256color');
  }
  const inside = env['TMUX'] ? ', inside tmux' : env['STY'] ? ', inside screen' : '';
  return ok('terminal', `${name ?? env['TERM_PROGRAM'] ?? 'a terminal'} (TERM=${term}${inside})`);
};

const room = ({ columns, rows }: { readonly columns: number; readonly rows: number }): Check =>
  rows >= LEAST_ROWS && columns >= LEAST_COLUMNS
    ? ok('size', `${columns} × ${rows}`)
    : warn(
        'size',
        `${columns} × ${rows} is too small for a footer`,
        `make it at least ${LEAST_COLUMNS} × ${LEAST_ROWS}`,
      );

const answering = ({ answers, synchronized, kittyKeyboard }: TerminalAnswers): Check => {
  if (!answers) {
    const text =
      'it answers no questions within a second: the footer may be drawn at a wrong row at the start';
    return warn('answers', text, 'use a terminal that answers CSI c, or --no-footer');
  }
  const can = [
    ...(synchronized ? ['frames at once (2026)'] : []),
    ...(kittyKeyboard ? ["kitty's keyboard protocol"] : []),
  ];
  return ok('answers', can.length > 0 ? `it answers, and has ${can.join(' and ')}` : 'it answers');
};

const colours = (env: Env): Check => {
  if (env['NO_COLOR']) return ok('colours', 'none, as NO_COLOR says');
  const isTrue = /^(?:truecolor|24bit)$/.test(env['COLORTERM'] ?? '');
  return ok('colours', isTrue ? 'true colour' : (env['TERM'] ?? '').includes('256') ? '256' : '16');
};

const letters = (env: Env): Check => {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return /utf-?8/i.test(locale)
    ? ok('letters', locale)
    : warn(
        'letters',
        `the locale "${locale}" is not UTF-8: the footer is drawn in ASCII`,
        'export LANG=C.UTF-8',
      );
};
