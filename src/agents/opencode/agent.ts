import type { NativeTrigger } from '../../core/build-ladder.js';
import type { Agent, CompactRecipe } from '../agent.js';
import { type LaunchRules, splitWords, startsConversation } from '../launch.js';
import { locateOpencode, opencodeDatabase } from './files.js';
import { opencodeReader } from './log.js';
import { opencodeScreen } from './screen.js';

/** opencode 1.18.33, from its --help. */
const launchRules: LaunchRules = {
  plainFlags: splitWords('-h --help -v --version'),
  plainCommands: splitWords(`
    completion acp mcp run debug providers auth agent upgrade uninstall serve web models stats export import
    github session plugin plug db
  `),
  valueFlags: splitWords(`
    --log-level --port --hostname --mdns-domain --cors -m --model -s --session --prompt --agent
    --replay-limit
  `),
};

const MOST_ANSWER_TOKENS = 32_000; // what it keeps free for an answer, or less where the model allows less

/** It compacts after a turn that leaves less than an answer's room (facts/opencode.md). */
const usualTrigger: NativeTrigger = { share: 1, reserveTokens: MOST_ANSWER_TOKENS };

/** facts/opencode.md. During a turn it runs the command at once, so it waits for the end. */
const opencodeRecipe: CompactRecipe = {
  command: '/compact',
  takesFocus: false,
  isPasted: false,
  pauseMs: 150,
  submit: '\r',
  startMs: 10_000,
  finishMs: 300_000, // a real compaction takes 10 to 120 s; longer is reported as a timeout
  isListed: true,
};

export const opencode: Agent = {
  name: 'opencode',
  command: 'opencode',
  npmPackage: 'opencode-ai',
  isInteractive: (args) => startsConversation(launchRules, args),
  nativeTrigger: () => usualTrigger,
  log: { locate: locateOpencode, database: opencodeDatabase, reader: opencodeReader },
  recipe: () => opencodeRecipe,
  screen: opencodeScreen,
};
