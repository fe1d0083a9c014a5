import type { Fact } from '../core/event.js';
import { tokensOfCharacters, type CharacterCounts, type Millis } from '../core/reading.js';
import type { ScreenModel } from '../terminal/screen-model.js';

// The estimate of last resort: counts the text that an unknown program has written to the screen.

/** The last reported estimate. */
export interface Estimate {
  readonly usedTokens: number;
  readonly at: Millis;
}

export interface EstimateStep {
  readonly estimate: Estimate;
  /** empty while the estimate has not changed enough */
  readonly facts: readonly Fact[];
}

export const noEstimate: Estimate = { usedTokens: 0, at: -Infinity };

const EVERY_MS = 1_000;
const LEAST_PERCENT = 1; // a smaller change is not worth a new number

/** Reports an estimate of the used tokens at most once a second, and only when it has changed. */
export const estimateStep = (last: Estimate, written: CharacterCounts, now: Millis): EstimateStep => {
  const usedTokens = tokensOfCharacters(written);
  const change = Math.abs(usedTokens - last.usedTokens);
  const isSame = change === 0 || change * 100 < last.usedTokens * LEAST_PERCENT;
  if (isSame || now < estimateDue(last)) return { estimate: last, facts: [] };
  const characters = written.ascii + written.wide;
  const reading = { usedTokens, characters, source: 'estimate' as const, at: now };
  return { estimate: { usedTokens, at: now }, facts: [{ type: 'reading', reading }] };
};

/** The earliest time of the next report. */
export const estimateDue = ({ at }: Estimate): Millis => at + EVERY_MS;

export interface EstimateSource {
  /** the child has written output */
  readonly noteOutput: () => void;
  readonly stop: () => void;
}

interface EstimatePorts {
  readonly screen: Pick<ScreenModel, 'startCounting' | 'writtenText' | 'isBehind' | 'isMidFrame'>;
  readonly now: () => Millis;
  readonly onFact: (fact: Fact) => void;
}

const SETTLE_MS = 250; // programs draw a screen in several writes

/** Reads the screen's character count shortly after output; no timer runs while there is no output. */
export const makeEstimateSource = ({ screen, now, onFact }: EstimatePorts): EstimateSource => {
  let last = noEstimate;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  screen.startCounting();

  const lookIn = (delayMs: number): void => {
    if (!isStopped) timer ??= setTimeout(look, delayMs).unref();
  };
  const look = (): void => {
    timer = undefined;
    if (screen.isBehind() || screen.isMidFrame()) return lookIn(SETTLE_MS);
    const written = screen.writtenText();
    if (!written) return; // there is no screen model
    const { estimate, facts } = estimateStep(last, written, now());
    last = estimate;
    facts.forEach(onFact);
  };
  return {
    noteOutput: () => lookIn(Math.max(SETTLE_MS, estimateDue(last) - now())),
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};
