// What must be read from each recording, written down from the facts about the agents and the numbers their server sent, and compared
// exactly with what a replay gives. One file a recording: test/fixtures/truth/<runtime>/<version>/<case>.json
//
//   {
//     "cast": "claude/traps",               in test/fixtures/casts, without .cast.gz; the runtime is the first folder of the truth file
//     "log": ["claude/session.jsonl"],      optional: in test/fixtures/logs, as in `ctxwrap replay --log`
//     "env": { "NAME": "value" },           optional: the agent's environment
//     "readings": [                         EVERY reading event, in order: one whenever a source gives a new or changed number
//       { "source": "screen",               screen, log, estimate
//         "basis": "auto-compact",          window, effective, auto-compact, baseline
//         "usedPercent": 62,                0…100 used on that basis, compared to two decimals; null where the event has none
//         "usedTokens": 1234,               optional: compared only when named; null demands that there is none
//         "windowTokens": 200000,           optional, the same
//         "tier": "safe",                   optional, the same: the tier that the session shows with it
//         "from": 3.2, "to": 4 }            optional: seconds; the event's `at` is not before `from` and not after `to`
//     ],
//     "activities": ["unknown", "ready",    EVERY activity event, in order: the first screen's, then each change
//       { "activity": "busy", "from": 3, "to": 3.5 }],   or with the seconds between which the change must be seen
//     "tiers": ["safe", "warn"],            optional: every tier event, in order; not compared when absent
//     "boundaries": 1                       optional: how many boundary events; 0 when absent
//   }
//
// Times: the screen is looked at when 50 ms passed without output, and 250 ms after its first unseen output at the latest, so an event
// comes up to 250 ms after the bytes that cause it. `playScreens` of test/support/screen-play.ts shows each look.
import { describe, it } from 'vitest';

describe('the truth about the recordings', () => {
  it.todo('is what a replay gives');
});
