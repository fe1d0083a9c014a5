import { Option } from 'commander';
import { command } from './command.js';
import { type Asked, optionOf } from './parameters.js';

const takes = {
  html: optionOf<string>(
    new Option('--html <file>', 'the file to write, for a browser').makeOptionMandatory(),
  ),
};

export type ReportRequest = Asked<typeof takes>;

export const report = command({
  name: 'report',
  topic: 'sessions',
  summary: 'write a page about all recorded sessions',
  examples: ['ctxwrap report --html report.html'],
  takes,
  run: async (asked, { version }) => (await import('../commands/report.js')).report(asked, version),
});
