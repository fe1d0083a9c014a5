import { command } from './command.js';
import { argument, type Asked, flag, JSON_HELP, NDJSON_HELP, option, runtime, window } from './parameters.js';

const takes = {
  path: argument('<file>', 'a recording (asciicast v2), also gzipped'),
  logs: option<readonly string[]>(
    '--log <file>',
    "the agent's session file; repeat it for several",
    (path, others = []) => [...others, path],
  ),
  runtime: runtime(
    'the recorded agent, if not recognised, or a JSON file that describes it',
    '--runtime <name|file>',
  ),
  window,
  json: flag('--json', JSON_HELP, ['ndjson']),
  ndjson: flag('--ndjson', NDJSON_HELP),
};

export type ReplayRequest = Asked<typeof takes>;

export const replay = command({
  name: 'replay',
  topic: 'trying',
  summary: 'show what ctxwrap reads from a recording',
  examples: ['ctxwrap replay session.cast --log ~/.claude/projects/-proj/ID.jsonl'],
  takes,
  configuration: 'agents', // this user's settings do not apply to a recorded session
  run: async (asked) => (await import('../commands/replay.js')).replay(asked),
});
