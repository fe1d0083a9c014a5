import { command } from './command.js';
import { type Asked, option } from './parameters.js';

const takes = {
  html: option('--html <file>', 'write the page to this file, and open nothing'),
};

export type ReportRequest = Asked<typeof takes>;

export const report = command({
  name: 'report',
  topic: 'sessions',
  summary: 'show a page about all recorded sessions in your browser',
  examples: ['ctxwrap report', 'ctxwrap report --html report.html'],
  takes,
  run: async (asked, { version }) => (await import('../commands/report.js')).report(asked, version),
});
