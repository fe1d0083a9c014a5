import { expect, it } from 'vitest';
import { transparentReason } from '../../src/cli/transparency.js';
import type { TransparencyContext } from '../../src/cli/transparency.js';

const conversation: TransparencyContext = {
  stdinIsTty: true,
  stdoutIsTty: true,
  env: { TERM: 'xterm-256color' },
  insideIsAlive: false,
  interactive: true,
};

it('wraps a conversation in a terminal', () => {
  expect(transparentReason(conversation)).toBeUndefined();
  expect(
    transparentReason({ ...conversation, env: { CTXWRAP_DISABLE: '0', CTXWRAP_SESSION: '' } }),
  ).toBeUndefined();
  expect(transparentReason({ ...conversation, env: { CTXWRAP_DISABLE: 'False' } })).toBeUndefined();
});

it.each([
  [{ stdinIsTty: false }, 'stdin is not a terminal'],
  [{ stdoutIsTty: false }, 'stdout is not a terminal'],
  [{ env: { TERM: 'dumb' } }, 'TERM is dumb'],
  [{ env: { CTXWRAP_DISABLE: '1' } }, 'CTXWRAP_DISABLE is set'],
  [{ env: { CTXWRAP_SESSION: '12-x' }, insideIsAlive: true }, 'already inside ctxwrap'],
  [{ interactive: false }, 'the arguments start no conversation'],
] as const)('steps aside for %j', (changed, reason) => {
  expect(transparentReason({ ...conversation, ...changed })).toBe(reason);
});
