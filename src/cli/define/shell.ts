import { agentWords } from '../../agents/launches.js';
import { type Shell, shells } from '../request.js';
import { candidatesFor, completionText } from '../shell/completion.js';
import { command } from './command.js';
import { argument, oneOf, type Parameter } from './parameters.js';

// `init` and `completion`, and what a shell calls for its completion.

const shell = (of: string): Parameter<Shell> => argument('<shell>', shells.join(', '), oneOf(of, shells));

export const init = command({
  name: 'init',
  topic: 'setup',
  summary: 'print shell functions that wrap the agents automatically',
  examples: ['eval "$(ctxwrap init bash)"'],
  takes: { shell: shell('init') },
  configuration: 'all',
  run: async ({ shell: name, options }) => (await import('../shell/init.js')).init(name, options), // at every start of a shell
});

export const completion = command({
  name: 'completion',
  topic: 'setup',
  summary: 'print the completion script of a shell',
  examples: ['eval "$(ctxwrap completion bash)"'],
  takes: { shell: shell('completion') },
  text: (asked) => completionText(asked.shell),
});

export const complete = command({
  name: 'complete',
  isHidden: true,
  isBare: true,
  summary: 'words for a shell',
  takes: { words: argument('[words...]', '') },
  configuration: 'all',
  run: async ({ words, options }, { program }) => {
    const line = words.map((word) => word.replace(/^=/, ''));
    const own = (options.configured?.runtimes ?? []).map(({ name }) => name);
    const candidates = candidatesFor(program, line, [...agentWords, ...own]);
    return (await import('../shell/complete.js')).complete(candidates, line.at(-1) ?? '');
  },
});
