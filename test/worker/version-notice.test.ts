import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { makeVersionNotifier, versionNotice } from '../../src/worker/version-notice.js';
import { verifiedRecord } from '../support/verified.js';
import { inFolder } from '../support/wrapped.js';

const { claude } = agents;
const [played = ''] = claude.home?.played ?? [];
const newer = '99.0.0';

describe('the notice of a version', () => {
  it('says that it is newer than the tested ones', () =>
    expect(versionNotice(claude, newer, undefined)).toBe(
      `claude ${newer} is newer than the tested ${played} · ctxwrap verify tests it`,
    ));

  it('is new in the first session with the version only, for as long as nothing else is to be said', () =>
    inFolder(async (folder) => {
      const noticesOf = async (version: string): Promise<readonly boolean[]> => {
        const found: boolean[] = [];
        const notify = makeVersionNotifier(claude, join(folder, 'state'), (_, isNew) => found.push(isNew));
        await notify(version);
        await notify(version);
        return found;
      };
      expect(await noticesOf(newer)).toEqual([true]);
      expect(await noticesOf(newer)).toEqual([false]);
      expect(await noticesOf('99.0.1')).toEqual([true]);
      expect(await noticesOf(played)).toEqual([]);
    }));

  it('is not given for one that the user has verified', () =>
    expect(versionNotice(claude, newer, verifiedRecord('claude', newer))).toBeUndefined());

  it('says so where a check has failed, also for a version tested in the lab', () => {
    expect(versionNotice(claude, newer, verifiedRecord('claude', newer, 1))).toBe(
      `claude ${newer} is newer than the tested ${played}, and ctxwrap verify passed only 1 of 2 checks`,
    );
    expect(versionNotice(claude, played, verifiedRecord('claude', played, 1))).toBe(
      `claude ${played}: ctxwrap verify passed only 1 of 2 checks`,
    );
  });

  it('says nothing about a version tested in the lab', () =>
    expect(versionNotice(claude, played, undefined)).toBeUndefined());
});
