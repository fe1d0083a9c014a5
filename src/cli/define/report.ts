import { Option } from 'commander';
import { command } from './command.js';
import { optionOf } from './parameters.js';

export const report = command({
  name: 'report',
  topic: 'sessions',
  summary: 'write a page about all recorded sessions',
  examples: ['ctxwrap report --html report.html'],
  takes: {
    html: optionOf<string>(
      new Option('--html <file>', 'the file to write, for a browser').makeOptionMandatory(),
    ),
  },
  run: async ({ html }, { version }) => (await import('../commands/report.js')).report(html, version),
});
