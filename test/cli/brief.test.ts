// `ctxwrap brief` as users run it where no agent is running.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ctxwrapHere } from '../support/command-here.js';
import { ids, writeStores } from '../support/stored-sessions.js';
import { ctxwrap, makeBench, type Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
  writeStores(bench.folder);
});
afterEach(() => bench.remove());

describe('ctxwrap brief', () => {
  it('prints what a compaction has lost, of a session that was never wrapped', async () => {
    const { stdout, stderr, code } = await ctxwrap(['brief', '--print', `${ids.claude}#1`], bench);
    expect(stdout).toMatchInlineSnapshot(`
      "The summary of our conversation left this out:

      Commands you ran:
      - touch /srv/zz-lab

      Keep it in mind from here on.
      "
    `);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  });

  it.each([
    [[], 'no session is running', 'ctxwrap brief --print 0f3a9c12#2'],
    [['--print'], '--print needs a compaction', 'ctxwrap brief --print 0f3a9c12#2'],
    [['--print', ids.claude], `which compaction of "${ids.claude}"?`, `${ids.claude}#1`],
    [['abc#2'], '"abc#2" is not a running session', "ctxwrap brief --print 'abc#2'"],
    [["a'b"], '"a\'b" is not a running session', String.raw`ctxwrap brief --print 'a'\''b#1'`],
  ])('with %j says what is wrong and what to do', async (args, wrong, fix) => {
    const { stderr, code } = await ctxwrapHere(['brief', ...args], bench);
    expect(stderr).toContain(wrong);
    expect(stderr).toContain(fix);
    expect(code).toBe(2);
  });
});
