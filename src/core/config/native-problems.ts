// Where auto stands that the user has configured, against where the agents compact by themselves.
import { boundText } from '../amount.js';
import { ladderOf } from '../build-ladder.js';
import type { NativeTrigger } from '../native.js';
import { grouped } from '../rung.js';
import type { Bound } from '../rung.js';
import type { Effective, Problem } from './setting.js';

/** An agent that may be started. */
export interface KnownAgent {
  readonly name: string;
  /** its usual window in tokens: which one it has is known when it runs */
  readonly usualTokens: number;
  readonly trigger: NativeTrigger;
}

/** What is told of auto. What stands on the command line is meant for this once, and nothing is told of it. */
export const nativeProblems = (
  effective: readonly Pick<Effective, 'key' | 'value' | 'origin'>[],
  agents: readonly KnownAgent[],
): readonly Problem[] => {
  const of = (key: Effective['key']) => effective.find((each) => each.key === key);
  const { value, origin } = of('auto') ?? {};
  const auto = value as Bound | undefined; // as the key's type says
  if (!auto || !origin || origin.layer === 'flag') return [];
  const window = of('window')?.value as number | undefined;
  const first = agents.flatMap(({ name, usualTokens, trigger }) => {
    const { auto: rung, native } = ladderOf({
      runtime: name,
      windowTokens: window ?? usualTokens,
      byUser: window === undefined ? undefined : { ownTokens: usualTokens },
      native: trigger,
      choice: { auto },
    });
    if (!rung || !native || (rung.asked === undefined && rung.value < native.tokens)) return [];
    const used = rung.asked === undefined ? {} : { used: grouped(rung.value) };
    return [{ agent: name, at: grouped(native.tokens), usual: grouped(usualTokens), ...used }];
  });
  if (first.length === 0) return [];
  return [{ kind: 'native', level: 'warning', key: 'auto', given: boundText(auto), agents: first, origin }];
};
