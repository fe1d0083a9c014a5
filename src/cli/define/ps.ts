import type { Millis } from '../../core/reading.js';
import * as messages from '../messages.js';
import { fieldsText, parseTemplate } from '../template.js';
import { command } from './command.js';
import { type Asked, flag, json, option } from './parameters.js';

const SECOND_MS = 1_000;

const parseInterval = (text: string): Millis => {
  if (!/^\d{1,4}$/.test(text) || Number(text) < 1 || Number(text) > 3_600) throw messages.badInterval(text);
  return Number(text) * SECOND_MS;
};

const takes = {
  all: flag('-a, --all', 'also list ended and unresponsive sessions'),
  watch: flag('-w, --watch', 'redraw when a session changes; q quits'),
  intervalMs: option(
    '--interval <seconds>',
    'with --watch: seconds between updates, 1 to 3600',
    parseInterval,
  ),
  format: option('--format <template>', "print one line per session, e.g. '{agent} {fill}'", parseTemplate),
  json,
};

export type PsRequest = Asked<typeof takes>;

export const ps = command({
  name: 'ps',
  otherNames: ['ls', 'status'], // what other programs call it
  topic: 'sessions',
  isCommon: true,
  summary: 'list running sessions, how full they are and what they are doing',
  sections: [['Fields for --format ({{ and }} for braces)', fieldsText()]],
  examples: ["ctxwrap ps --watch --format '{agent} {fill} {waits}'"],
  takes,
  unexpected: messages.psOfOne,
  check: (asked) => {
    if (asked.json && asked.watch) throw messages.jsonWithWatch();
    if (asked.intervalMs !== undefined && !asked.watch) throw messages.intervalWithoutWatch();
    if (asked.json && asked.format) throw messages.excludedOption('--json', '--format');
  },
  run: async (asked) =>
    asked.watch
      ? (await import('../commands/ps-watch.js')).watchSessions(asked)
      : (await import('../commands/ps.js')).ps(asked),
});
