import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAgentState } from '../../src/agents/tested.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe("an agent's own word on its state", () => {
  it('is read with what it is blocked by, and what it asks', () => {
    const text = 'state=blocked:app=claude-code:kind=permission:msg=YXBwcm92ZSBCYXNoOiB0b3VjaCB6ei50eHQ=';
    expect(parseAgentState(text)).toEqual({
      state: 'blocked',
      app: 'claude-code',
      kind: 'permission',
      message: 'approve Bash: touch zz.txt',
    });
  });

  it('is the first that is named, whatever the message brings behind it', () => {
    expect(parseAgentState('state=blocked:app=claude-code:msg=eA==:state=idle')?.state).toBe('blocked');
  });

  it.each(['idle', 'working', 'done', 'error', 'clear'])('is read without any of that: %s', (state) => {
    expect(parseAgentState(`state=${state}:app=codex`)).toEqual({ state, app: 'codex' });
  });

  it.each([undefined, '', '?', 'idle', 'state=', 'state=resting', 'state=idle2', 'xstate=idle'])(
    'is none where no state is named: %s',
    (text) => expect(parseAgentState(text)).toBeUndefined(),
  );

  it('is always one line of bounded length that no terminal takes for more than text', () => {
    const hostile = fc.string({ unit: 'binary', maxLength: 500 });
    fc.assert(
      fc.property(hostile, hostile, (message, kind) => {
        const read = parseAgentState(`state=blocked:kind=${kind.replaceAll(':', '')}:msg=${base64(message)}`);
        for (const text of [read?.message ?? '', read?.kind ?? '']) {
          expect(text).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
          expect([...text].length).toBeLessThanOrEqual(200);
        }
      }),
    );
  });
});
