// What becomes of the limit that the user has chosen in the overview: in the session, in the configuration, and in later sessions.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultValues } from '../../src/core/config/keys.js';
import { agents } from '../../src/agents/index.js';
import { toAgentFacts } from '../../src/agents/agent.js';
import { startFlow, stepFlow } from '../../src/core/session-flow.js';
import type { LadderChoice } from '../../src/core/ladder.js';
import type { Event } from '../../src/core/event.js';
import type { LimitAnswer } from '../../src/core/own-limit.js';
import { nullLog } from '../../src/storage/log-file.js';
import { offerLimit, takeLimit } from '../../src/worker/limit-choice.js';
import { eventually } from '../support/eventually.js';
import { inFolder } from '../support/wrapped.js';

const thousand = (thousands: number) => ({ value: thousands * 1_000, unit: 'tokens' }) as const;
const always = (limit: LimitAnswer['limit']): LimitAnswer => ({ limit, span: 'always' });

/** A session whose user has this home folder. */
const sessionIn = (
  home: string,
  more: {
    readonly autoFrom?: string;
    readonly hotkey?: 'none';
    readonly state?: string;
    readonly ladder?: LadderChoice;
  } = {},
) => {
  const path = join(home, 'config.jsonc');
  const { autoFrom, state, ladder: _, ...values } = more;
  const session = {
    env: { HOME: home, ...(state === undefined ? {} : { XDG_STATE_HOME: state }) },
    log: nullLog,
    values: { ...defaultValues, ...values },
    ownConfig: { path, name: '~/config.jsonc', command: 'ctxwrap config', autoFrom },
  };
  return {
    path,
    written: (text: string) => writeFile(path, text),
    text: () => readFile(path, 'utf8').catch(() => undefined),
    choose: async (answer: LimitAnswer) => {
      const events: Event[] = [];
      const flow = startFlow({ agent: toAgentFacts(agents.claude, {}), ladder: more.ladder }, 0);
      const named = stepFlow(flow, { type: 'model', model: 'claude-opus-4-8' }, 1);
      const handle = (event: Event): void => void events.push(event);
      await takeLimit(session, answer, { handle, flow: () => ({ ...named, now: 1 }) });
      const said = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
      return { said, changes: events.filter(({ type }) => type === 'limit') };
    },
    offers: async () => {
      const said: string[] = [];
      await offerLimit(session, (event) => void (event.type === 'notice' && said.push(event.text)));
      return said;
    },
  };
};

const OFFER = '200k used · Ctrl-] l keeps it below a limit';
const answeredFile = (home: string): string => join(home, '.local/state/ctxwrap/limit-answered');

describe('a limit for this session', () => {
  it('holds there, and leaves the configuration as it is', () =>
    inFolder(async (home) => {
      const { choose, text } = sessionIn(home);
      expect(await choose({ limit: thousand(300), span: 'session' })).toEqual({
        said: ['limit 300k for this session'],
        changes: [{ type: 'limit', limit: thousand(300) }],
      });
      expect((await choose({ limit: 'none', span: 'session' })).said).toEqual(['no limit for this session']);
      expect(await text()).toBeUndefined();
    }));
});

describe('a limit for always', () => {
  it('is in the configuration as `config set` writes it, and one of the settings', () =>
    inFolder(async (home) => {
      const { choose, text, written } = sessionIn(home);
      await written('{\n  // mine\n  "mode": "auto",\n  "auto": "85%" // for now\n}\n');
      expect(await choose(always(thousand(300)))).toEqual({
        said: ['limit 300k saved in ~/config.jsonc'],
        changes: [{ type: 'limit', limit: thousand(300), isSaved: true }],
      });
      expect(await text()).toBe('{\n  // mine\n  "mode": "auto",\n  "auto": "300k" // for now\n}\n');
    }));

  it('makes a configuration where there is none', () =>
    inFolder(async (home) => {
      const { choose, text } = sessionIn(home);
      await choose(always(thousand(200)));
      expect(await text()).toBe('{\n  "auto": "200k"\n}\n');
    }));

  it('that is none removes the key', () =>
    inFolder(async (home) => {
      const { choose, text, written } = sessionIn(home);
      expect((await choose(always('none'))).said).toEqual(['no limit: auto is not set in ~/config.jsonc']);
      expect(await text()).toBeUndefined();
      await written('{ "auto": "300k", "mode": "ask" }');
      expect(await choose(always('none'))).toEqual({
        said: ['no limit: auto removed from ~/config.jsonc'],
        changes: [{ type: 'limit', limit: 'none', isSaved: true }],
      });
      expect(await text()).toBe('{ "mode": "ask" }');
    }));

  it('is above an option or a variable in this session, which outranks the configuration', () =>
    inFolder(async (home) => {
      const { choose, text } = sessionIn(home, { autoFrom: '--auto' });
      expect(await choose(always(thousand(500)))).toEqual({
        said: ['limit 500k saved in ~/config.jsonc · in this session instead of --auto'],
        changes: [{ type: 'limit', limit: thousand(500) }],
      });
      expect(await text()).toContain('"auto": "500k"');
    }));

  it('is above the limit of a model in this session, and gives way to one of another model', () =>
    inFolder(async (home) => {
      const of = (pattern: string) => sessionIn(home, { ladder: { limits: { [pattern]: thousand(100) } } });
      expect(await of('*opus*').choose(always(thousand(300)))).toEqual({
        said: ['limit 300k saved in ~/config.jsonc · in this session instead of limits'],
        changes: [{ type: 'limit', limit: thousand(300) }],
      });
      expect((await of('*haiku*').choose(always(thousand(500)))).said).toEqual([
        'limit 500k saved in ~/config.jsonc',
      ]);
    }));

  it('that cannot be saved holds in the session, and the footer has the command and the reason', () =>
    inFolder(async (home) => {
      const { choose, text, written } = sessionIn(home);
      await written('{ "auto": ');
      const by = (words: string): string =>
        `not saved: ctxwrap config ${words} · the file is not valid JSONC`;
      expect(await choose(always(thousand(300)))).toEqual({
        said: [`${by('set auto 300k')} · limit 300k for this session`],
        changes: [{ type: 'limit', limit: thousand(300) }],
      });
      expect((await choose(always('none'))).said).toEqual([
        `${by('unset auto')} · no limit for this session`,
      ]);
      expect(await text()).toBe('{ "auto": ');
    }));
});

describe('the offer', () => {
  it('is made until the user has chosen, whatever that was, and never in a later session', () =>
    inFolder(async (home) => {
      expect(await sessionIn(home).offers()).toEqual([OFFER]);
      expect(await sessionIn(home).offers()).toEqual([OFFER]);
      await sessionIn(home).choose({ limit: 'none', span: 'session' });
      await eventually(async () => expect(await sessionIn(home).offers()).toEqual([]));
      expect((await stat(answeredFile(home))).mode & 0o777).toBe(0o600);
    }));

  it('is made where the memory of it is broken, and the answer mends that', () =>
    inFolder(async (home) => {
      const path = answeredFile(home);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, '\0\x1b[2J'.repeat(1_000));
      expect(await sessionIn(home).offers()).toEqual([OFFER]);
      await sessionIn(home).choose(always(thousand(300)));
      await eventually(async () => expect(await sessionIn(home).offers()).toEqual([]));
    }));

  it('nothing breaks where the answer cannot be remembered', () =>
    inFolder(async (home) => {
      await writeFile(join(home, 'taken'), '');
      const session = sessionIn(home, { state: join(home, 'taken') });
      const { said } = await session.choose({ limit: thousand(200), span: 'session' });
      expect([said, await session.offers()]).toEqual([['limit 200k for this session'], [OFFER]]);
    }));

  it('is not made without a hotkey', () =>
    inFolder(async (home) => expect(await sessionIn(home, { hotkey: 'none' }).offers()).toEqual([])));
});
