// The handoff that a running session writes by itself, from the events of its session to the file that other programs read.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { defaultValues, type Values } from '../../src/core/config/keys.js';
import type { Event } from '../../src/core/event.js';
import type { FooterView } from '../../src/core/footer-view.js';
import type { WrapSession } from '../../src/session/options.js';
import type { SessionSource } from '../../src/session-files/read-history.js';
import { storedFile } from '../../src/storage/session-store.js';
import { nullLog } from '../../src/storage/log-file.js';
import { makeHandoffWriter, type HandoffWriter } from '../../src/worker/handoff-writer.js';
import { makeSessionLoop } from '../../src/worker/session-loop.js';
import { eventually } from '../support/eventually.js';
import { inSession, tokens } from '../support/sessions.js';
import { inFolder } from '../support/wrapped.js';

const userLine = (content: string): string =>
  `${JSON.stringify({ type: 'user', uuid: content, message: { role: 'user', content } })}\n`;

/** A session with the preset `handoff`, whose user has said one thing. */
const openSession = (
  home: string,
  agent = agents.claude as WrapSession['agent'],
  values: Partial<Values> = {},
) => {
  const path = join(home, 'conversation.jsonl');
  writeFileSync(path, userLine('Rename the option.'));
  const warnings: string[] = [];
  const session = {
    agent,
    args: [],
    cwd: home,
    env: { HOME: home },
    log: { ...nullLog, warn: (text: string) => void warnings.push(text) },
    values: { ...defaultValues, ladder: 'handoff', tips: false, ...values },
    wrapper: { id: 'me', pid: process.pid, version: '1' },
  } as unknown as WrapSession;
  let writer: HandoffWriter | undefined;
  let view: FooterView | undefined;
  const paths: string[] = [];
  const said: string[] = [];
  const onView = (now: FooterView): void => {
    view = now;
    if (now.words !== undefined) said.push(now.words);
  };
  const loop = makeSessionLoop(
    session,
    { mode: 'warn', command: '/compact', startMs: 5_000, finishMs: 120_000, isProactive: false },
    { onView, onHandoffDue: () => queueMicrotask(() => writer?.writeAtHard()) },
  );
  const stored = async (): Promise<SessionSource | undefined> => ({
    agent: agents.claude,
    ...(await storedFile(path)),
  });
  let source = stored;
  writer = makeHandoffWriter({
    session,
    flow: loop.flow,
    take: loop.take,
    source: () => source(),
    publisher: { onHandoff: (written) => void paths.push(written) },
  });
  const take = (...events: readonly Event[]): void => events.forEach(loop.take);
  take({ type: 'user-window', windowTokens: 200_000 }, inSession('one'), {
    type: 'activity',
    report: { activity: 'ready', witnesses: [] },
  });
  const file = join(home, '.local/state/ctxwrap/handoff/me.md');
  return {
    take,
    path,
    file,
    paths,
    warnings,
    stop: loop.stop,
    press: writer.press,
    loseSource: (times?: 'once') =>
      (source = async () => {
        if (times === 'once') source = stored;
        return undefined;
      }),
    /** it is read only once the returned function was called */
    holdSource: () => {
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      source = async () => {
        await held;
        return stored();
      };
      return () => release();
    },
    text: () => readFileSync(file, 'utf8'),
    said,
    footer: () => view?.words,
  };
};

const inSessionOf = (
  act: (session: ReturnType<typeof openSession>, home: string) => Promise<void>,
  agent?: WrapSession['agent'],
): Promise<void> =>
  inFolder(async (home) => {
    const session = openSession(home, agent);
    try {
      await act(session, home);
    } finally {
      session.stop();
    }
  });

const [SAFE, HARD] = [20_000, 171_000];

describe('the handoff of a running session', () => {
  it('is written at 85 %, once, and then the footer and other programs name it', () =>
    inSessionOf(async ({ take, paths, file, text, footer }) => {
      take(tokens('log', HARD));
      await eventually(() => expect(footer()).toBe('handoff ready: ctxwrap handoff --to claude'));
      expect(text()).toContain('Rename the option.');
      expect(paths).toEqual([file]);
      take(tokens('log', HARD + 1_000), tokens('log', HARD + 2_000));
      await new Promise(setImmediate);
      expect(paths).toEqual([file]);
    }));

  it('is written anew when the window was freed and fills again', () =>
    inSessionOf(async ({ take, path, paths, text }) => {
      take(tokens('log', HARD));
      await eventually(() => expect(paths).toHaveLength(1));
      writeFileSync(path, userLine('Rename the option.') + userLine('Now the tests.'));
      take(tokens('log', SAFE), tokens('log', HARD));
      await eventually(() => expect(paths).toHaveLength(2));
      expect(text()).toContain('Now the tests.');
    }));

  it('is written once more where it falls due while one is written', () =>
    inSessionOf(async ({ path, press, paths, text, holdSource }) => {
      const release = holdSource();
      press();
      press();
      press();
      writeFileSync(path, userLine('Rename the option.') + userLine('Now the tests.'));
      release();
      await eventually(() => expect(paths).toHaveLength(2));
      expect(text()).toContain('Now the tests.');
      await new Promise(setImmediate);
      expect(paths).toHaveLength(2);
    }));

  it('is tried once more where it fails', () =>
    inSessionOf(async ({ take, paths, footer, warnings, loseSource }) => {
      loseSource('once');
      take(tokens('log', HARD));
      await eventually(() => expect(paths).toHaveLength(1));
      expect(footer()).toBe('handoff ready: ctxwrap handoff --to claude');
      expect(warnings).toEqual([]);
    }));

  it('is offered in place of a tip about compacting', () =>
    inFolder(async (home) => {
      const session = openSession(home, agents.claude, { tips: true });
      session.take(tokens('log', HARD), { type: 'activity', report: { activity: 'ready', witnesses: [] } });
      await eventually(() => expect(session.footer()).toBe('handoff ready: ctxwrap handoff --to claude'));
      expect(session.said.filter((words) => !words.startsWith('handoff'))).toEqual([]);
      session.stop();
    }));

  it('is not written because of an estimate', () =>
    inSessionOf(async ({ take, paths, file }) => {
      take(tokens('estimate', 190_000));
      await new Promise(setImmediate);
      expect(paths).toEqual([]);
      expect(existsSync(file)).toBe(false);
    }));

  it('is written at any time when its key is pressed, and the footer answers', () =>
    inSessionOf(async ({ take, press, footer, text }) => {
      take(tokens('log', SAFE));
      press();
      await eventually(() => expect(footer()).toBe('handoff ready: ctxwrap handoff --to claude'));
      expect(text()).toContain('Rename the option.');
    }));

  it('is not said to be for an agent that cannot be started with it', () =>
    inSessionOf(async ({ press, footer }) => {
      press();
      await eventually(() => expect(footer()).toBe('handoff ready: ctxwrap handoff'));
    }, agents.demo));

  it.each([
    [
      'the session file is not known',
      ({ loseSource }) => void loseSource(),
      'the session file is not known yet',
    ],
    ['nothing was said', ({ path }) => writeFileSync(path, ''), 'nothing was said yet'],
    [
      'its folder cannot be written',
      ({ file }, home) => {
        mkdirSync(join(home, '.local/state/ctxwrap'), { recursive: true });
        writeFileSync(join(file, '..'), 'in the way');
      },
      'its file cannot be written: not a directory',
    ],
  ] satisfies readonly (readonly [
    string,
    (session: ReturnType<typeof openSession>, home: string) => void,
    string,
  ])[])('is refused with the reason where %s', (_, prepare, reason) =>
    inSessionOf(async (session, home) => {
      prepare(session, home);
      session.take(tokens('log', HARD));
      await eventually(() => expect(session.footer()).toContain('no handoff: '));
      expect(session.footer()).toContain(reason);
      expect(session.warnings.join()).toContain(reason);
      expect(session.paths).toEqual([]);
    }),
  );
});
