// Candidates take turns, so that what else the machine does hits all of them alike, each time in another order: who comes first after a pause
// finds processors that sleep, and a key then takes 0.1 ms longer. One that crashes or hangs is left out from then on: its
// result says why, and the others go on.
import { medians, shuffled } from './numbers.js';

const firstLine = (error) => String(error.message ?? error).split('\n')[0];

/**
 * One entry for each candidate: `{ candidate, name, failure }`. `each(act)` calls `act` for those that have not failed, one after the other;
 * what it throws is the candidate's failure,
 * and closes its `terminal`.
 */
export const takeTurns = (candidates) => {
  const entries = candidates.map((candidate) => ({ candidate, name: candidate.name, failure: undefined }));
  const each = async (act) => {
    for (const entry of shuffled(entries)) {
      if (entry.failure !== undefined) continue;
      try {
        await act(entry);
      } catch (error) {
        entry.failure = firstLine(error);
        await entry.terminal?.kill();
        process.stderr.write(`  ${entry.name}: ${entry.failure}\n`);
      }
    }
  };
  /** what is told of those that are sound; of the others that they failed */
  const results = (tell) =>
    entries.map((entry) =>
      entry.failure === undefined
        ? { name: entry.name, ...tell(entry) }
        : { name: entry.name, failure: entry.failure },
    );
  return { each, results };
};

/** `measure(candidate, round)` gives a record of numbers; the medians of the rounds, by candidate. */
export const measureInTurn = async (candidates, rounds, measure) => {
  const { each, results } = takeTurns(candidates);
  for (let round = 0; round < rounds; round += 1)
    await each(async (entry) => (entry.samples ??= []).push(await measure(entry.candidate, round)));
  return results(({ samples }) => medians(samples));
};
