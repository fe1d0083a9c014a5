import { command } from './command.js';
import { argument, type Asked, flag, NDJSON_HELP } from './parameters.js';

const prints = `First the state of each session, then every change of tier, activity and
mode, every attempt to compact and its outcome, numbers at most once a
second, and the end. With a session it ends when that session ends.
Without --ndjson each event is a readable line: 14:03:07 4711-x2 tier safe
→ warn.`;

const takes = {
  target: argument('[session]', "an id, a pid or an agent's name; by default all sessions"),
  ndjson: flag('--ndjson', NDJSON_HELP),
};

export type EventsRequest = Asked<typeof takes>;

export const events = command({
  name: 'events',
  topic: 'sessions',
  summary: 'follow what happens in sessions',
  sections: [['Prints', prints]],
  examples: ['ctxwrap events --ndjson | jq -c \'select(.type == "tier")\''],
  takes,
  run: async (asked) => (await import('../commands/events.js')).events(asked),
});
