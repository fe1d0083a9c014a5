import { Option } from 'commander';
import { agentWords } from '../../agents/launches.js';
import { command } from './command.js';
import { argument, type Asked, flag, json, oneOf, optionOf } from './parameters.js';

const takes = {
  agent: argument(
    '[agent]',
    `${agentWords.join(', ')}; by default all that are installed`,
    oneOf('verify', agentWords),
  ),
  keep: flag('--keep', 'keep the recording and the log even if everything passes'),
  json,
  /** set when ctxwrap has started itself in a sandbox without network */
  order: optionOf<string | undefined>(
    new Option('--order <json>', 'what is played in the place that was made for it').hideHelp(),
  ),
};

export type VerifyRequest = Asked<typeof takes>;

const exitStatus = `0  every check passed
1  a check failed
2  invalid usage, or no agent is installed`;

export const verify = command({
  name: 'verify',
  topic: 'trying',
  summary: 'test an installed agent against a mock model, offline',
  sections: [['Exit status', exitStatus]],
  examples: ['ctxwrap verify claude'],
  takes,
  run: async (asked) => (await import('../commands/verify.js')).verify(asked),
});
