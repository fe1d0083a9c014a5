import { describe, expect, it } from 'vitest';
import type { Located } from '../../src/agents/agent.js';
import { chooseSession, startChoice } from '../../src/worker/session-choice.js';

const at = (sessionId: string, certain: boolean): Located => ({ sessionId, path: `/${sessionId}`, certain });
const follow = (...found: readonly Located[]) => found.reduce(chooseSession, startChoice).current?.sessionId;

describe('the choice of a session file', () => {
  it('is the same object when nothing changes', () => {
    const choice = chooseSession(startChoice, at('a', true));
    expect(chooseSession(choice, at('a', true))).toBe(choice);
  });

  it('stays with a file that is gone while the agent still names its session', () => {
    const choice = chooseSession(startChoice, at('a', true));
    expect(chooseSession(choice, { sessionId: 'a', certain: true })).toBe(choice);
  });

  it('follows the agent’s own statement, back and forth', () => {
    expect(follow(at('a', true), at('b', true), at('a', true), at('b', true))).toBe('b');
  });

  it('goes to a new file that is only guessed', () => {
    expect(follow(at('a', false), at('b', false))).toBe('b');
  });

  it('stays with the first of two files that grow in turns', () => {
    expect(follow(at('a', false), at('b', false), at('a', false), at('b', false), at('b', false))).toBe('a');
  });

  it('still goes to a third file after that', () => {
    const found = ['a', 'b', 'a', 'b', 'c'].map((id) => at(id, false));
    expect(follow(...found)).toBe('c');
  });

  it('moves when a known session gets its file', () => {
    const named = chooseSession(startChoice, { sessionId: 'a', certain: true });
    expect(chooseSession(named, at('a', true)).current?.path).toBe('/a');
  });
});
