import { basename } from 'node:path';
import type { Values } from '../../core/config/keys.js';
import {
  fail,
  none,
  ok,
  warn,
  type Check,
  type CheckSection,
  type TerminalAnswers,
} from '../../core/report/doctor-report.js';
import { readLook, type Env, type Look } from '../../core/look.js';
import type { ProbedTerminal } from './doctor-probes.js';
import { type Shell, shells } from '../request.js';
import { isSwitchedOn } from '../transparency.js';
import { startupLines } from '../shell/init.js';

// The sections of the machine: what ctxwrap runs on, the shell, and the terminal.

const LEAST_NODE = 20; // `engines` in package.json

export interface SystemFacts {
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  readonly env: Env;
  /** why node-pty cannot open a pseudo-terminal; undefined when it can */
  readonly ptyFailure: string | undefined;
  /** the shell that started this command has loaded the text of `ctxwrap init` */
  readonly isInitActive: boolean;
  /** the wrapper named by CTXWRAP_SESSION still runs */
  readonly isInside: boolean;
}

export const systemSection = (facts: SystemFacts): CheckSection => {
  const { node, platform, arch, ptyFailure } = facts;
  return {
    title: 'System',
    checks: [
      Number.parseInt(node, 10) >= LEAST_NODE
        ? ok('node', `Node ${node}`)
        : fail('node', `Node ${node} is too old`, `install Node ${LEAST_NODE} or newer`),
      platform === 'linux' || platform === 'darwin'
        ? ok('platform', `${platform} ${arch}`)
        : fail('platform', `ctxwrap does not support ${platform}`, 'use ctxwrap on Linux or macOS'),
      ptyFailure === undefined
        ? ok('pty', 'ctxwrap can open pseudo-terminals')
        : fail('pty', `ctxwrap cannot open a pseudo-terminal: ${ptyFailure}`, 'npm install -g ctxwrap'),
      shell(facts),
      ...unwrapped(facts),
    ],
  };
};

const isKnown = (name: string): name is Shell => shells.some((each) => each === name);

const shell = ({ env, isInitActive }: SystemFacts): Check => {
  if (isInitActive) return ok('shell', 'ctxwrap init is active in this shell');
  const path = env['SHELL'] ?? '';
  const name = basename(path);
  if (!isKnown(name)) {
    const found = path === '' ? 'SHELL is not set' : `your shell is ${path}`;
    return none('shell', `${found}; ctxwrap init supports ${shells.join(', ')}`);
  }
  const { command, file } = startupLines[name];
  const text = `ctxwrap init is not active in this shell; to wrap agents in every new one, add this line to ${file}`;
  return none('shell', text, command);
};

/** Why agents that start from here run without ctxwrap. */
const unwrapped = ({ env, isInside }: SystemFacts): readonly Check[] => [
  ...(isSwitchedOn(env['CTXWRAP_DISABLE'])
    ? [warn('disabled', 'CTXWRAP_DISABLE is set, so agents run without ctxwrap', 'unset CTXWRAP_DISABLE')]
    : []),
  ...(isInside
    ? [ok('inside', `you are inside session ${env['CTXWRAP_SESSION'] ?? ''}; agents are not wrapped twice`)]
    : []),
];

const LEAST_ROWS = 8;
const LEAST_COLUMNS = 20; // in a narrower terminal the footer is hidden

export interface TerminalFacts {
  readonly env: Env;
  /** undefined where input or output is not a terminal */
  readonly terminal: ProbedTerminal | undefined;
  readonly footer: Values['footer'];
  readonly theme: Values['theme'];
}

export const terminalSection = ({ env, terminal, footer, theme }: TerminalFacts): CheckSection => {
  const title = 'Terminal';
  if (!terminal) {
    const text = 'not checked, because input or output is not a terminal';
    return { title, checks: [none('terminal', text)] };
  }
  if (env['TERM'] === 'dumb') {
    const text = 'TERM is dumb, so agents run without ctxwrap';
    return { title, checks: [fail('terminal', text, 'export TERM=xterm-256color')] };
  }
  const { size, answers } = terminal;
  const isLarge = size.rows >= LEAST_ROWS && size.columns >= LEAST_COLUMNS;
  const look = readLook({ env, isTTY: true, columns: size.columns, theme });
  return {
    title,
    checks: [
      ok('terminal', nameOf(env, answers)),
      isLarge || !footer ? ok('size', sizeText(size)) : tooSmall(size),
      ...(footer ? [] : [none('footer', 'off (your setting)')]),
      queries(answers, footer && isLarge),
      ok('colours', coloursText(look, env, theme)),
      characters(look, env),
    ],
  };
};

const nameOf = (env: Env, { name }: TerminalAnswers): string => {
  const term = env['TERM'] ? `TERM=${env['TERM']}` : 'TERM is not set';
  const inside = env['TMUX'] ? ', inside tmux' : env['STY'] ? ', inside screen' : '';
  const known = name ?? env['TERM_PROGRAM'];
  return known === undefined ? `${term}${inside}` : `${known} (${term}${inside})`;
};

type Size = ProbedTerminal['size'];

const sizeText = ({ columns, rows }: Size): string => `${columns} × ${rows}`;

const tooSmall = (size: Size): Check =>
  size.columns > 0 && size.rows > 0
    ? warn(
        'size',
        `${sizeText(size)} is too small for the footer`,
        `make the terminal at least ${LEAST_COLUMNS} columns by ${LEAST_ROWS} rows`,
      )
    : warn('size', 'the terminal does not report its size, so there is no footer', 'stty cols 80 rows 24');

const queries = ({ answers, synchronized, kittyKeyboard }: TerminalAnswers, hasFooter: boolean): Check => {
  if (!answers)
    return hasFooter
      ? warn(
          'queries',
          'the terminal did not answer within a second, so the footer may start in the wrong row',
          'use ctxwrap --no-footer, or another terminal',
        )
      : none('queries', 'the terminal did not answer within a second');
  const can = [
    ...(synchronized ? ['synchronized output'] : []),
    ...(kittyKeyboard ? ['the kitty keyboard protocol'] : []),
  ];
  return ok('queries', can.length > 0 ? `answered; supports ${can.join(' and ')}` : 'answered');
};

const levels = ['none', '16', '256', 'true colour'] as const;

const coloursText = ({ colorLevel }: Look, env: Env, theme: Values['theme']): string => {
  if (colorLevel > 0) return levels[colorLevel];
  if (theme.preset === 'mono') return 'none, because the theme is mono';
  const cause = (['NO_COLOR', 'FORCE_COLOR'] as const).find((name) => env[name]);
  return cause === undefined ? 'none' : `none, because ${cause}=${env[cause] ?? ''}`;
};

/** The variable that sets the character encoding: POSIX, Base Definitions 8.2. */
const localeNames = ['LC_ALL', 'LC_CTYPE', 'LANG'];

const characters = ({ ascii }: Look, env: Env): Check => {
  const name = localeNames.find((each) => env[each]);
  const locale = name === undefined ? 'no locale is set' : `${name}=${env[name] ?? ''}`;
  if (!ascii) return ok('characters', `Unicode (${locale})`);
  if (env['TERM'] === 'linux')
    return ok('characters', 'ASCII, because the Linux console has few other characters');
  return warn(
    'characters',
    `${locale} is not UTF-8, so ctxwrap draws in ASCII`,
    `export ${name ?? 'LANG'}=C.UTF-8`,
  );
};
