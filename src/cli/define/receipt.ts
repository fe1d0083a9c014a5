import { command } from './command.js';
import { argument, type Asked, flag, json, writer } from './parameters.js';

const takes = {
  target: argument('<session#n>', 'a compaction, as history lists it'),
  full: flag('--full', 'also list what was kept'),
  json,
  runtime: writer,
};

export type ReceiptRequest = Asked<typeof takes>;

export const receipt = command({
  name: 'receipt',
  topic: 'sessions',
  summary: 'show what a compaction kept and what it lost',
  examples: ['ctxwrap receipt 0f3a9c12#2'],
  takes,
  run: async (asked) => (await import('../commands/receipt.js')).receipt(asked),
});
