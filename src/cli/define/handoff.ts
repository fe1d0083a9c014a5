import { Option } from 'commander';
import {
  DEFAULT_REQUESTS,
  handoffSections,
  MOST_REQUESTS,
  type HandoffSection,
} from '../../core/conversation/handoff.js';
import * as messages from '../messages.js';
import { command } from './command.js';
import {
  argument,
  type Asked,
  flag,
  JSON_HELP,
  LAST_SESSION,
  option,
  optionOf,
  SESSION,
  writer,
} from './parameters.js';

const parseOutput = (text: string): string => {
  if (text === '') throw messages.badValue('--output', 'the name of a file', text, 'handoff.md');
  return text;
};

const parseRequests = (text: string): number => {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= MOST_REQUESTS) return count;
  const rule = `a number from 0 to ${MOST_REQUESTS}`;
  throw messages.badValue('--requests', rule, text, String(DEFAULT_REQUESTS));
};

const parseSections = (text: string): readonly HandoffSection[] =>
  text.split(',').map((each) => {
    const section = handoffSections.find((known) => known === each.trim());
    if (section === undefined) throw messages.unknownItem('--without', each, handoffSections);
    return section;
  });

const takes = {
  target: argument('[session|file]', `${SESSION}; ${LAST_SESSION}; also a session file`),
  to: option('--to <agent>', 'start this agent, with the handoff as a draft in its prompt'),
  import: flag('--import', "with --to: use the agent's own import", ['draft']),
  draft: flag('--draft', "with --to: don't ask about the agent's own import"),
  json: flag('--json', JSON_HELP, ['markdown', 'to']),
  markdown: flag('--markdown', 'print Markdown, which is the default'),
  output: option('--output <file>', 'write to a new file', parseOutput),
  requests: optionOf<number>(
    new Option('--requests <n>', 'how many of your last messages')
      .argParser(parseRequests)
      .default(DEFAULT_REQUESTS),
  ),
  without: option('--without <list>', `leave out: ${handoffSections.join(', ')}`, parseSections),
  runtime: writer,
};

export type HandoffRequest = Asked<typeof takes>;

export const handoff = command({
  name: 'handoff',
  topic: 'sessions',
  isCommon: true,
  summary: 'print what another session needs to continue the work',
  examples: ['ctxwrap handoff > next.md', 'ctxwrap handoff claude --to codex'],
  takes,
  check: ({ to, import: isImport, draft }) => {
    if ((isImport || draft) && to === undefined)
      throw messages.wrongUsage('--import and --draft belong to --to', 'handoff');
  },
  run: async (asked, { start }) => (await import('../commands/handoff.js')).handoff(asked, start),
});
