// Texts that come as drafts, a brief and a handoff: whole, only into an empty prompt, and sent by nobody but the user.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { assertThat, openDialog, untilCompacted } from '../../../src/verify/checks.js';
import { sessionFileOptions, sessionFilesIn, writesIn } from '../../../src/verify/keys.js';
import type { UserTerminal } from '../../../src/verify/user-terminal.js';
import { BACKSPACE, ENTER } from '../agents/agent.js';
import { LITTLE, QUICK_SUMMARY_MS, SOME, WATCH_MS, type LabSession, type Scenario } from './scenario.js';
import { fill } from './steps.js';

const DIALOG_MS = 1_000; // Claude takes no key in the first moment of a dialog
const SEND_MS = 1_000; // a person reads it first
const QUIET_MS = 10_000;
const TYPED = 'half a thought';
const THERE = /draft in the prompt, not sent/;

// long enough that every agent folds the paste up; an `@` opens lists of files, a `!` the shell
const WORDS = Array.from({ length: 50 }, (_, index) => `word-${index}`).join(' ');
const COMMANDS = [1, 2, 3].map((each) => `touch number-${each} @types !ls ${WORDS}`);

/** Turns in which tools run, so that the compaction has something to lose. */
const work = async (session: LabSession): Promise<void> => {
  const { terminal, mock, activity, submit, untilScreen, agent } = session;
  await session.turn(LITTLE);
  for (const [index, command] of COMMANDS.entries()) {
    mock.configure({ next: [{ command, text: 'I run it.' }] });
    await submit(`run number ${index}`);
    await untilScreen(agent.dialog);
    await pause(DIALOG_MS);
    terminal.press(ENTER); // the first choice: yes, once
    const isAsked = (): boolean => !agent.dialog.test(terminal.screen()) && activity() === 'ready';
    await terminal.until(isAsked, 'activity ready after the tool');
  }
};

const PASTE = /\x1b\[200~([^]*?)\x1b\[201~/g;
const PASTES = /(?:\x1b\[200~[^\x1b]*\x1b\[201~)+/g;

/** The last text that was pasted in a recording, in one paste or in several ones after each other. */
const pastedIn = (cast: string): string => {
  const [last = ''] = [...writesIn(cast).join('').matchAll(PASTES)].map(([pastes]) => pastes).slice(-1);
  return [...last.matchAll(PASTE)].map(([, text = '']) => text).join('');
};

/** Nothing is sent by itself; then the user sends it, and every line of it reaches the model. */
const sendsWhole = async (
  session: LabSession,
  { terminal, cast }: { readonly terminal: UserTerminal; readonly cast: () => string },
): Promise<string> => {
  const { mock, waitFor } = session;
  const before = mock.requests().length;
  await waitFor(QUIET_MS);
  assertThat(mock.requests().length === before, 'something was sent before Enter');
  const text = pastedIn(cast());
  // Codex reads no file for it, opencode none for a pasted one, and Copilot only says that there is one of this name
  const isHarmless = ['codex', 'copilot', 'opencode'].includes(session.agent.name);
  assertThat(isHarmless || !/(?<!\\)@/.test(text), 'an @ in it could name a file');
  mock.configure({ turn: { usedTokens: SOME, text: 'I keep it in mind' } });
  await pause(SEND_MS);
  terminal.press(ENTER);
  await terminal.until(
    () =>
      mock
        .requests()
        .slice(before)
        .some(({ purpose, end }) => purpose === 'turn' && end === 'answered'),
    'an answer to the draft',
  );
  const sent = mock.lastTurn();
  for (const line of text.split('\n'))
    assertThat(sent.includes(JSON.stringify(line.trimEnd()).slice(1, -1)), `not in the request: ${line}`);
  return `${text.length} characters, whole in the request after Enter`;
};

const brief: Scenario = {
  name: 'brief',
  expects:
    'after a compaction `ctxwrap recall --into draft`: what was lost stands in the prompt, and is only sent by Enter',
  summaryMs: QUICK_SUMMARY_MS,
  hasDrafts: true,
  play: async (session) => {
    await work(session);
    await fill(session);
    await untilCompacted(session);
    const asked = session.runCtxwrap('recall', '--into', 'draft');
    await session.untilFooter(THERE);
    await asked;
    const evidence = await sendsWhole(session, session);
    const pasted = pastedIn(session.cast()).replaceAll(String.raw`\@`, '@');
    // of commands of one kind only the last one matters
    assertThat(pasted.includes(COMMANDS.at(-1) ?? ''), 'the draft does not have the last command');
    return evidence;
  },
};

const briefWithText: Scenario = {
  name: 'brief with a draft',
  expects:
    '`ctxwrap recall --into draft` while there is text in the prompt: it stays, and the brief comes when it is gone',
  summaryMs: QUICK_SUMMARY_MS,
  hasDrafts: true,
  play: async (session) => {
    const { terminal, runCtxwrap } = session;
    await work(session);
    await fill(session);
    await untilCompacted(session);
    await terminal.type(TYPED);
    const asked = runCtxwrap('recall', '--into', 'draft');
    await pause(WATCH_MS);
    assertThat(terminal.screen().includes(TYPED), 'the text is gone');
    assertThat(!pastedIn(session.cast()).includes('\n'), 'something was pasted behind it');
    await terminal.type(BACKSPACE.repeat(TYPED.length));
    const words = (await asked).trim();
    assertThat(words.startsWith('✓'), words);
    return `${await sendsWhole(session, session)}; it says "${words}"`;
  },
};

const briefAtDialog: Scenario = {
  name: 'brief at a dialog',
  expects: 'a tool asks for permission: no key, and the tool is not approved',
  summaryMs: QUICK_SUMMARY_MS,
  hasDrafts: true,
  play: async (session) => {
    await work(session);
    await fill(session);
    await untilCompacted(session);
    await openDialog(session);
    void session.runCtxwrap('recall', '--into', 'draft').catch(() => undefined); // it waits until the end
    await pause(WATCH_MS);
    assertThat(session.agent.dialog.test(session.terminal.screen()), 'the dialog has gone');
    assertThat(!pastedIn(session.cast()).includes('\n'), 'something was pasted there');
    return `no key in ${WATCH_MS / 1000} s`;
  },
};

/** Another terminal in which a handoff starts an agent; its recording. */
const handOff = (session: LabSession, ...args: readonly string[]) => {
  const { home, agent, openTerminal } = session;
  const folder = join(dirname(home), 'handoff');
  mkdirSync(folder);
  const options = [...sessionFileOptions(folder), '--mode', 'warn'];
  const terminal = openTerminal(...options, 'handoff', ...args, '--to', agent.name);
  return { terminal, ...sessionFilesIn(folder, home) };
};

const lastRow = (terminal: UserTerminal): string => terminal.rows().at(-1) ?? '';

const handoff: Scenario = {
  name: 'handoff',
  expects:
    '`ctxwrap handoff --to` starts the agent in another terminal: the handoff stands in its prompt, and is only sent by Enter',
  summaryMs: QUICK_SUMMARY_MS,
  hasDrafts: true,
  play: async (session) => {
    await work(session);
    await session.untilLog(/the agent's session is/); // Kimi's files come late on a busy machine
    const next = handOff(session, '--draft');
    await next.terminal.until(() => THERE.test(lastRow(next.terminal)), 'the draft');
    const evidence = await sendsWhole(session, next);
    assertThat(
      pastedIn(next.cast()).includes(`# Handoff from ${session.agent.name}`),
      'it is not the handoff',
    );
    return evidence;
  },
};

const EARLIER = 'test/fixtures/logs/claude/session-with-compaction.jsonl';

const imported: Scenario = {
  name: 'handoff by its import',
  expects:
    'from Claude to an agent with an import for it: asked first, the import is the default and stands in the prompt; nothing is sent',
  isFor: ({ name }) => name === 'codex',
  summaryMs: QUICK_SUMMARY_MS,
  hasDrafts: true,
  play: async (session) => {
    const { home, project, mock, waitFor } = session;
    const file = join(home, 'earlier.jsonl');
    const root = process.env['CTXWRAP_LAB_ROOT'] ?? process.cwd();
    writeFileSync(file, readFileSync(join(root, EARLIER), 'utf8').replaceAll('/proj/app-claude', project));
    assertThat(existsSync(file), 'no session file');
    const { terminal, cast } = handOff(session, file);
    await terminal.until(() => terminal.screen().includes('Which one? [1]'), 'the question');
    terminal.press(ENTER);
    await terminal.until(() => THERE.test(lastRow(terminal)), 'the draft');
    assertThat(pastedIn(cast()) === '/import', `pasted ${JSON.stringify(pastedIn(cast()))}`);
    await waitFor(QUIET_MS);
    assertThat(mock.requests().length === 0, 'something was sent before Enter');
    terminal.press(ENTER);
    await terminal.until(
      () => /import/i.test(terminal.screen()) && !/^› \/import/m.test(terminal.screen()),
      'the import',
    );
    return 'asked, then /import stood in the prompt, and Enter opened it';
  },
};

export const drafts: readonly Scenario[] = [brief, briefWithText, briefAtDialog, handoff, imported];
