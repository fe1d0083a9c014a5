// Which of Claude's background sessions this terminal shows: nothing that Claude writes says so.
import { describe, expect, it } from 'vitest';
import { isViewerOnly } from '../../src/agents/claude/viewer.js';
import { locateClaude, readStatus } from '../../src/agents/claude/locate.js';
import type { ChildPlace } from '../../src/agents/agent.js';
import { fakePlace, fakePort, type FakeFile } from '../support/fake-machine.js';

const FOLDER = '/home/me/.claude/projects/-proj-app';
const OWN = '11111111-2222-4333-8444-555555555555';
const ONE = 'aaaaaaaa-2222-4333-8444-555555555555';
const TWO = 'bbbbbbbb-2222-4333-8444-555555555555';

const pidFile = (pid: number, record: object): Record<string, FakeFile> => ({
  [`/home/me/.claude/sessions/${pid}.json`]: {
    modifiedAt: 1,
    text: JSON.stringify({ pid, cwd: '/proj/app', startedAt: fakePlace().startedAt, ...record }),
  },
});
const background = (pid: number, sessionId: string, name: string, more: object = {}) =>
  pidFile(pid, { sessionId, jobId: sessionId.slice(0, 8), kind: 'bg', name, status: 'idle', ...more });
const own = pidFile(100, { sessionId: OWN, kind: 'interactive', status: 'idle', parkedJobId: 'aaaaaaaa' });
const said = (...messages: readonly string[]): string =>
  messages
    .map((content) =>
      JSON.stringify({ type: 'user', isSidechain: false, message: { role: 'user', content } }),
    )
    .join('\n');
const transcript = (id: string, ...messages: readonly string[]): Record<string, FakeFile> => ({
  [`${FOLDER}/${id}.jsonl`]: { modifiedAt: 1, text: said(...messages) },
});
const shows = (names: readonly string[], messages: readonly string[] = []): Partial<ChildPlace> => ({
  view: { shows: 'conversation', names, messages },
  viewSince: 1,
});
const located = (files: Record<string, FakeFile>, place: Partial<ChildPlace>) =>
  locateClaude(fakePort({ files }), fakePlace(place));

describe('the background session in view', () => {
  const two = { ...own, ...background(7, ONE, 'fix the parser'), ...background(8, TWO, 'write docs') };

  it('is the one that the title names, with its own file and process', async () => {
    const files = { ...two, ...transcript(TWO, 'hello') };
    expect(await located(files, shows(['write docs']))).toEqual({
      sessionId: TWO,
      path: `${FOLDER}/${TWO}.jsonl`,
      certain: true,
      pid: 8,
    });
  });

  it('is the one with the messages on the screen where two have one name, or the title says none', async () => {
    const twins = { ...own, ...background(7, ONE, 'docs'), ...background(8, TWO, 'docs') };
    const files = { ...transcript(ONE, 'first', 'go on'), ...transcript(TWO, 'second', 'go on') };
    expect(await located({ ...twins, ...files }, shows(['docs'], ['second', 'go on']))).toMatchObject({
      pid: 8,
    });
    expect(await located({ ...twins, ...files }, shows([], ['first', 'go on']))).toMatchObject({ pid: 7 });
    expect(await located({ ...twins, ...files }, shows(['docs'], ['go on']))).toBeUndefined();
  });

  it('is none while nothing on the screen tells, also with a single one: another may just be starting', async () => {
    const one = { ...own, ...background(7, ONE, 'fix the parser'), ...transcript(ONE, 'first') };
    expect(await located(one, shows([]))).toBeUndefined();
    expect(await located(one, shows(['another']))).toBeUndefined();
    expect(await located(one, shows(['fix the parser'], ['something else']))).toBeUndefined();
    expect(await located(one, { view: { shows: 'list', name: 'the list' }, viewSince: 1 })).toBeUndefined();
  });

  it('reads the messages from where the part of the file begins, and leaves commands out', async () => {
    const text = said('first', 'go on', '<command-name>/model</command-name>', 'and on');
    const files = { ...own, ...background(7, ONE, 'x'), [`${FOLDER}/${ONE}.jsonl`]: { modifiedAt: 1, text } };
    const end = text.slice(text.indexOf('\n') - 5);
    const port = { ...fakePort({ files }), lastPart: async () => end };
    const place = fakePlace(shows([], ['before it', 'go on', 'and on']));
    expect(await locateClaude(port, place)).toMatchObject({ pid: 7 });
    // of a file that was read from its beginning, nothing can come before
    expect(await located(files, place)).toBeUndefined();
  });

  it('is told by its messages also behind a turn that was interrupted, and by a name that is cut', async () => {
    const files = {
      ...own,
      ...background(7, ONE, 'these are rather long words'),
      ...transcript(ONE, 'make a file', '[Request interrupted by user for tool use]'),
    };
    expect(await located(files, shows([], ['make a file']))).toMatchObject({ pid: 7 });
    expect(await located(files, shows(['these are rather…']))).toMatchObject({ pid: 7 });
    expect(await located(files, shows(['t…']))).toBeUndefined();
  });

  it('is told by the first words of its job, too, while it has no name of its own', async () => {
    const job = { modifiedAt: 1, text: JSON.stringify({ name: '', intent: 'fill 4\nand more' }) };
    const files = {
      ...own,
      ...background(7, ONE, 'aaaaaaaa'),
      '/home/me/.claude/jobs/aaaaaaaa/state.json': job,
    };
    expect(await located(files, shows(['fill 4', 'claude']))).toMatchObject({ pid: 7 });
  });

  it('is not taken by its name alone where another job has it, too, whose process does not run yet', async () => {
    const job = { modifiedAt: 1, text: JSON.stringify({ name: 'docs' }) };
    const files = { ...own, ...background(7, ONE, 'docs'), '/home/me/.claude/jobs/cccccccc/state.json': job };
    expect(await located(files, shows(['docs']))).toBeUndefined();
    const told = { ...files, ...transcript(ONE, 'go on') };
    expect(await located(told, shows(['docs'], ['go on']))).toMatchObject({ pid: 7 });
  });

  it('is not one whose message only begins with the words on the screen, unless they fill a row', async () => {
    const files = { ...own, ...background(7, ONE, 'x'), ...transcript(ONE, 'yes, do all of that and more') };
    expect(await located(files, shows([], ['yes']))).toBeUndefined();
    expect(await located(files, shows([], ['yes, do all of that and']))).toMatchObject({ pid: 7 });
  });

  it('is not that of a process that was killed: its file stays, and another process goes on', async () => {
    const proc = (pid: number): Record<string, FakeFile> => ({ [`/proc/${pid}`]: { modifiedAt: 1 } });
    const later = { startedAt: fakePlace().startedAt + 1 };
    const files = {
      ...own,
      ...proc(8),
      '/proc/self': { modifiedAt: 1 },
      ...background(7, ONE, 'docs', { status: 'busy' }),
      ...background(8, ONE, 'docs', later),
    };
    expect(await located(files, { args: ['attach', 'aaaaaaaa'] })).toMatchObject({ pid: 8 });
    expect(await located(files, { ...shows(['docs']), followedPid: 7 })).toMatchObject({ pid: 8 });
    const isEight = ([path]: readonly [string, FakeFile]): boolean => path === '/proc/8';
    const gone = Object.fromEntries(Object.entries<FakeFile>(files).filter((each) => !isEight(each)));
    expect(await located(gone, { args: ['attach', 'aaaaaaaa'] })).toBeUndefined();
  });

  it('is told by the last message that Claude repeats, where the messages lie before what is read', async () => {
    const files = { ...own, ...background(7, ONE, 'x'), ...transcript(ONE, 'first') };
    const end = (lastPrompt: string): string => JSON.stringify({ type: 'last-prompt', lastPrompt });
    const port = (lastPrompt: string) => ({ ...fakePort({ files }), lastPart: async () => end(lastPrompt) });
    const place = fakePlace(shows([], ['go on', 'and on']));
    expect(await locateClaude(port('go on'), place)).toMatchObject({ pid: 7 });
    expect(await locateClaude(port('another'), place)).toBeUndefined();
  });

  it('stays the one that was found, whatever its name becomes, and is followed after /clear', async () => {
    const renamed = { ...own, ...background(7, TWO, 'another name') };
    expect(await located(renamed, { ...shows(['docs']), followedPid: 7 })).toMatchObject({ sessionId: TWO });
  });

  it('has the file of the session that it continues, until it has its own', async () => {
    const launch = { mode: 'resume', sessionId: `${FOLDER}/${OWN}.jsonl`, fork: true };
    const roster = (path: string): Record<string, FakeFile> => ({
      '/home/me/.claude/daemon/roster.json': {
        modifiedAt: 1,
        text: JSON.stringify({
          workers: { aaaaaaaa: { dispatch: { sessionId: ONE, launch: { ...launch, sessionId: path } } } },
        }),
      },
    });
    const files = { ...own, ...background(7, ONE, 'docs'), ...transcript(OWN, 'first') };
    const earlier = await located(
      { ...files, ...roster(`${FOLDER}/${OWN}.jsonl`) },
      shows(['docs'], ['first']),
    );
    expect(earlier).toEqual({
      sessionId: ONE,
      path: `${FOLDER}/${OWN}.jsonl`,
      isEarlier: true,
      certain: true,
      pid: 7,
    });
    const cleared = { ...files, ...background(7, TWO, 'docs'), ...roster(`${FOLDER}/${OWN}.jsonl`) };
    cleared['/home/me/.claude/sessions/7.json'] = {
      modifiedAt: 1,
      text: JSON.stringify({
        pid: 7,
        cwd: '/proj/app',
        sessionId: TWO,
        jobId: 'aaaaaaaa',
        kind: 'bg',
        name: 'docs',
      }),
    };
    expect(await located(cleared, { ...shows(['docs']), followedPid: 7 })).toEqual({
      sessionId: TWO,
      certain: true,
      pid: 7,
    });
    const foreign = await located({ ...files, ...roster('/etc/passwd') }, shows(['docs'], ['first']));
    expect(foreign).toEqual({ sessionId: ONE, certain: true, pid: 7 });
  });

  it('is none as long as the child runs its own session, whatever the screen has shown', async () => {
    const running = pidFile(100, { sessionId: OWN, kind: 'interactive', status: 'idle' });
    const files = { ...running, ...transcript(OWN, 'first'), ...background(7, ONE, 'docs') };
    expect(await located(files, shows(['docs']))).toMatchObject({ sessionId: OWN, certain: true });
  });

  it('is never a process that waits for a session, nor a session of another terminal', async () => {
    const spare = background(7, ONE, 'docs', { spare: true });
    const other = pidFile(9, { sessionId: TWO, kind: 'interactive', name: 'docs' });
    expect(await located({ ...own, ...spare, ...other }, shows(['docs']))).toBeUndefined();
  });

  it('has the state that its own process writes; while none is found there is none', async () => {
    const files = { ...own, ...background(7, ONE, 'docs', { status: 'busy' }) };
    const port = fakePort({ files });
    expect(await readStatus(port, fakePlace({ ...shows([]), followedPid: 7 }))).toEqual({ state: 'busy' });
    expect(await readStatus(port, fakePlace(shows([])))).toBeUndefined();
  });

  it('is what `claude attach` names, until the list was on the screen', async () => {
    const files = { ...background(7, ONE, 'fix the parser'), ...background(8, TWO, 'write docs') };
    expect(await located(files, { args: ['attach', 'bbbbbbbb'] })).toMatchObject({ sessionId: TWO });
    expect(await located(files, { args: ['attach', 'Parser'] })).toMatchObject({ sessionId: ONE });
    expect(await located(files, { args: ['attach', 'r'] })).toBeUndefined();
    expect(await located(files, { args: ['attach', 'bbbbbbbb'], ...shows([]) })).toBeUndefined();
    expect(await located(files, { args: ['agents'] })).toBeUndefined();
  });
});

describe('the arguments of a child that shows sessions of others', () => {
  it.each([
    [['attach', 'x'], true],
    [['--settings', '/x.json', 'agents'], true],
    [['--model', 'opus', 'please', 'attach'], false],
    [['fix the agents'], false],
    [['--resume', 'attach'], false],
    [[], false],
  ])('%j: %s', (args, isViewer) => {
    expect(isViewerOnly(args)).toBe(isViewer);
  });
});
