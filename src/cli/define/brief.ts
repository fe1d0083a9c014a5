import { command } from './command.js';
import { argument, type Asked, flag, SESSION, writer } from './parameters.js';

const takes = {
  target: argument('[session]', `${SESSION}; with --print a compaction, as history lists it`),
  isPrinted: flag('--print', 'print it instead'),
  runtime: writer,
};

export type BriefRequest = Asked<typeof takes>;

export const brief = command({
  name: 'brief',
  topic: 'sessions',
  summary: 'put what the last compaction lost into the prompt, as a draft',
  examples: ['ctxwrap brief', 'ctxwrap brief --print 0f3a9c12#2'],
  takes,
  run: async (asked) => (await import('../commands/brief.js')).brief(asked),
});
