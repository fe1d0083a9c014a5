import { badValue } from '../messages.js';
import { command } from './command.js';
import { argument, type Asked, option } from './parameters.js';

const parsePage = (text: string): string => {
  if (text === '') throw badValue('--html', 'the name of a file', text, 'report.html');
  return text;
};

const takes = {
  target: argument('[session]', 'only this session: its id, pid or file; by default all sessions'),
  html: option('--html <file>', 'write the page to this file, and open nothing', parsePage),
};

export type ReportRequest = Asked<typeof takes>;

export const report = command({
  name: 'report',
  topic: 'sessions',
  summary: 'show a page about all recorded sessions, or one, in your browser',
  examples: ['ctxwrap report', 'ctxwrap report 0f3a9c12', 'ctxwrap report --html report.html'],
  takes,
  run: async (asked, { version }) => (await import('../commands/report.js')).report(asked, version),
});
