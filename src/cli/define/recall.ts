import { Option } from 'commander';
import type { WayBack } from '../../core/compaction/requests.js';
import { present } from '../../core/present.js';
import { parseChoice } from '../options.js';
import { command } from './command.js';
import { argument, type Asked, flag, JSON_HELP, optionOf, SESSION, writer } from './parameters.js';

const waysBack = ['draft', 'context'] as const satisfies readonly WayBack[];

const takes = {
  target: argument(
    '[session]',
    `${SESSION}; add #2 for its second compaction instead of the last; when none runs, the last recorded session`,
  ),
  isPrinted: flag('--print', 'print the text that would be given back', ['json', 'into']),
  into: optionOf<WayBack | undefined>(
    new Option('--into <way>', 'give it back to the running session')
      .choices(waysBack)
      .argParser(parseChoice('recall --into', ...waysBack)),
  ),
  json: flag('--json', JSON_HELP, ['into']),
  runtime: writer,
};

export type RecallRequest = Asked<typeof takes>;

const perform = async (asked: RecallRequest) => (await import('../commands/recall.js')).recall(asked);

export const recall = command({
  name: 'recall',
  topic: 'sessions',
  isCommon: true,
  summary: 'show what a compaction kept and forgot, or give it back',
  examples: ['ctxwrap recall', 'ctxwrap recall 0f3a9c12#2 --print', 'ctxwrap recall --into draft'],
  takes,
  run: perform,
});

// Older words for it.

const SAME = 'same as ctxwrap recall';

export const receipt = command({
  name: 'receipt',
  isHidden: true,
  summary: SAME,
  takes: {
    target: takes.target,
    json: flag('--json', JSON_HELP),
    full: optionOf<unknown>(new Option('--full').hideHelp()), // everything is listed
    runtime: writer,
  },
  run: (asked) => perform({ ...asked, isPrinted: false }),
});

export const brief = command({
  name: 'brief',
  isHidden: true,
  summary: `${SAME} --into draft`,
  takes: { target: takes.target, isPrinted: flag('--print', 'print it instead'), runtime: writer },
  run: (asked) =>
    perform({ ...asked, json: false, ...present({ into: asked.isPrinted ? undefined : 'draft' }) }),
});
