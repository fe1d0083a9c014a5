// The keys that say what a session shows, hears, writes and runs.
import { controlKeyName, defaultHotkey } from '../control-key.js';
import { footerItems } from '../footer-items.js';
import { logLevels } from '../log-levels.js';
import { notificationKinds } from '../notifications.js';
import type { Key } from './key.js';

const flag = { kind: 'flag' } as const;
const path = { kind: 'path' } as const;

export const sessionKeys = {
  'watch.omc': {
    type: flag,
    fallback: false,
    doc: "OMC's `.omc/state/compact-requested.json` in the session's folder counts as a request to compact.",
    flag: '--watch-omc',
    project: [true, false],
  },
  footer: {
    type: flag,
    fallback: true,
    doc: 'Show the footer; `false` leaves all rows to the agent, and compacts by itself only with a `mode` that you have set to `auto`.',
    flag: '--no-footer',
  },
  'footer.items': {
    type: { kind: 'list', choices: footerItems },
    doc: 'What the footer shows, in this order.',
    example: ['bar', 'percent', 'tier', 'message'],
    flag: '--footer-items',
  },
  theme: {
    type: { kind: 'choice', choices: ['auto', 'light', 'dark', 'mono'] },
    fallback: 'auto',
    doc: 'The colours of the footer.',
    flag: '--theme',
  },
  tips: {
    type: flag,
    fallback: true,
    doc: 'Seldom, a fact about the window in the footer.',
    flag: '--no-tips',
    project: [true, false],
  },
  'notify.on': {
    type: { kind: 'list', choices: notificationKinds },
    doc: 'Call you through the terminal when the window reaches auto or hard, a compaction fails, or the agent waits in a dialog.',
    example: ['hard', 'failure', 'permission'],
    flag: '--notify',
  },
  'notify.command': {
    type: { kind: 'text', longest: 1_000 },
    doc: 'With `notify.on`, run this, too, with the notification as JSON on its standard input.',
    example: 'notify-send ctxwrap',
    flag: '--notify-command',
  },
  hotkey: {
    type: { kind: 'hotkey' },
    fallback: controlKeyName(defaultHotkey),
    doc: 'The key that is ours: `Ctrl-G`, `^G`, or `none`. Pressed twice it goes to the agent.',
    flag: '--hotkey',
  },
  log: {
    type: path,
    doc: 'Append what ctxwrap does to this file. After 5 MB it becomes the old one, with `.1` behind its name.',
    example: '~/ctxwrap.log',
    flag: '--log',
  },
  'log.level': {
    type: { kind: 'choice', choices: logLevels },
    fallback: 'info',
    doc: 'What the log has: `info` everything, `warn` what did not go as it should, `error` what failed.',
    flag: '--log-level',
  },
  'debug.text': {
    type: flag,
    fallback: false,
    doc: 'To find a fault: the log also holds the rows of the screen, and so what was said, whenever the number or the activity changes.',
    project: [true, false],
  },
  quiet: {
    type: flag,
    fallback: false,
    doc: 'Say nothing but errors.',
    flag: '--quiet',
  },
  'env.file': {
    type: path,
    doc: "A dotenv file of yours from which the environment names of this table are read; a project's `.env` never is by itself.",
    example: '~/.config/ctxwrap/env',
    flag: '--env-file',
  },
  runtimes: {
    type: { kind: 'definitions' },
    env: false,
    doc: 'Agents of your own by name, and changes to ours, as docs/configuration.md has them.',
  },
} as const satisfies Readonly<Record<string, Key>>;
