import { command } from './command.js';
import { argument, type Asked, flag, json, LAST_SESSION, SESSION, writer } from './parameters.js';

const takes = {
  target: argument(
    '[session#n]',
    `${SESSION}; ${LAST_SESSION}; also a session file; #N chooses a compaction, by default the last`,
  ),
  run: flag('--run', 'start the agent with the new session, under ctxwrap', ['json']),
  json,
  runtime: writer,
};

export type UndoCommandRequest = Asked<typeof takes>;

const whatHappens = `ctxwrap writes the conversation to a new session of the same agent. No file is
overwritten. If the agent is running, it switches at its next safe moment;
otherwise ctxwrap prints the command that resumes the new session.`;

const exitStatus = `0  done
1  it cannot be undone, the agent did not go back, or the outcome is unknown
2  invalid usage, or no such session or compaction
Ctrl-C withdraws a request that is still waiting, and ends with that signal.`;

export const undo = command({
  name: 'undo',
  topic: 'sessions',
  isCommon: true,
  summary: 'go back to the conversation before a compaction, in a new session',
  sections: [
    ['What happens', whatHappens],
    ['Exit status', exitStatus],
  ],
  examples: ['ctxwrap undo', 'ctxwrap undo 0f3a9c12#2 --run'],
  takes,
  run: async (asked, { start }) => (await import('../commands/undo.js')).undo(asked, start),
});
