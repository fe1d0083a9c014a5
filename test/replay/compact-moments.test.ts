// Every recording through the whole path from bytes to effects, with a window that is full from the start: a compaction is wanted at each
// moment, so that only the gate prevents typing. Text that would be typed into a dialog, a picker, shell mode or a draft is found here.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Activity } from '../../src/core/reading.js';
import type { Event } from '../../src/core/event.js';
import { agents } from '../../src/agents/index.js';
import { toAgentFacts, type Agent } from '../../src/agents/agent.js';
import { openRecordingFile } from '../../src/storage/recording-reader.js';
import { startScreenState, readScreen } from '../../src/worker/screen-reader.js';
import { startOfRecording } from '../../src/replay/replay.js';
import { mergeByTime } from '../../src/replay/sources.js';
import { openReplayLogs } from '../../src/replay/sources.js';
import { logBatches } from '../../src/replay/sources.js';
import { settledScreens } from '../../src/replay/sources.js';
import { casts } from '../support/casts.js';
import { HARD_TOKENS, playCompaction } from '../support/compaction-play.js';
import { castPath } from '../support/screen-play.js';
import { tokens } from '../support/sessions.js';

interface Typing {
  /** milliseconds since the start */
  readonly at: number;
  /** how long the last activity had lasted then */
  readonly heldMs: number;
  readonly activity: Activity | undefined;
  readonly rows: readonly string[];
}

const full = tokens('log', HARD_TOKENS);

/** A session that is asked to compact, or counts down, at every moment. Nothing is really typed, so the request stays open. */
const makeWisher = (agent: Agent, isAsked: boolean) => {
  const play = playCompaction({}, { agent: toAgentFacts(agent, {}), window: 200_000 });
  const typings: Typing[] = [];
  let known: { readonly at: number; readonly activity?: Activity } = { at: 0 };
  let rows: readonly string[] = [];
  const settle = (): void => {
    if (play.phase().kind !== 'typing') return;
    const at = play.typings().at(-1)?.at ?? 0;
    typings.push({ at, heldMs: at - known.at, activity: known.activity, rows });
    play.typed({ kind: 'skipped', reason: 'a recording takes no keys', evidence: [] });
  };
  const wish = (): void => {
    play.tell(full);
    if (isAsked && !play.state().request) play.ask(`${play.at()}`, { force: true });
    settle();
  };
  /** In short steps, so that a decision to type is withdrawn before the next screen. */
  const waitUntil = (at: number): void => {
    while (play.at() < at) {
      play.wait(Math.min(at - play.at(), 250));
      settle();
      wish();
    }
  };
  wish();
  return {
    typings,
    see: (events: readonly Event[], seen: readonly string[], at: number): void => {
      waitUntil(at);
      rows = seen;
      for (const event of events) {
        if (event.type === 'activity') known = { at: play.at(), activity: event.report.activity };
        play.tell(event);
        settle();
      }
      wish();
    },
  };
};

/** Where the command would be typed in a recording, and every activity in it. */
const playWishes = async (cast: string, agent: Agent, logs: readonly string[] = []) => {
  const open = () => openRecordingFile(castPath(cast));
  const { header, events } = await open();
  const { log } = agent;
  if (!log) throw new Error(`nothing is known of the session file of ${agent.name}`);
  const { promptAt, records } = await openReplayLogs(
    logs.map((path) => logFolder + path),
    log,
  );
  const startedAt = await startOfRecording(open, header, promptAt);
  const wishers = [true, false].map((isAsked) => makeWisher(agent, isAsked));
  const activities: Activity[] = [];
  const { screen: agentScreen } = agent;
  if (!agentScreen) throw new Error(`nothing is known of the screen of ${agent.name}`);
  let watch = startScreenState(agentScreen.reader({}));
  const written = logBatches(log, records(), { env: {}, startedAt });
  for await (const { item } of mergeByTime(settledScreens(header, events()), written, startedAt)) {
    if (!('type' in item) || item.type !== 'screen') continue;
    const { screen } = item.seen;
    const rows = Array.from({ length: screen.rows }, (_, row) => screen.text(row));
    const report = readScreen(watch, item.seen, item.at);
    ({ state: watch } = report);
    for (const event of report.events) if (event.type === 'activity') activities.push(event.report.activity);
    for (const wisher of wishers) wisher.see(report.events, rows, Math.ceil(item.at));
  }
  return { typings: wishers.flatMap(({ typings }) => typings), activities };
};

interface Truth {
  readonly cast: string;
  readonly log?: readonly string[];
  readonly activities: readonly (string | { readonly activity: string })[];
}

const folder = fileURLToPath(new URL('../fixtures/truth/', import.meta.url));
const logFolder = fileURLToPath(new URL('../fixtures/logs/', import.meta.url));
const truths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(folder + name, 'utf8')) as Truth);

// The empty prompt of each agent, described independently of the readers under test.
const emptyPrompts: Readonly<Record<string, RegExp>> = {
  claude: /^[❯>]\s*$/, // `>` in old versions
  // 0.137 suggests a prompt
  codex: /^› (?:Ask Codex to do anything|Explain this codebase|Run \/review on my current changes)/,
  gemini:
    /^(?:│| )[>*] +(?:Type your message or @path\/to\/file|Press 'Esc' for NORMAL mode)|^│ [>*] +Type your message/,
  // after an answer it suggests the next prompt, drawn as a hint; it is the mock server's constant answer
  qwen: /^[>*] +(?:Type your message or @path\/to\/file|MOCK-REPLY ok$|Shall I add tests for it\?$)/,
  copilot: /^[❯┃]$/,
  kimi: /^ │ > +│$/,
  opencode: /^ *┃(?: {2}Ask anything….*)?$/,
};
const questions =
  /Do you want to|Would you like to run|[Ee]nter to (?:confirm|select|continue)|Allow once|Allow execution of|Waiting for user confirmation|\[NORMAL\]|shell mode enabled|exit shell mode|Execute shell command|search prompts:|reverse-i-search|Showing detailed transcript|Run this command\?|╭ ! shell mode|Select a model/;
// conversations that imitate dialogs: their words prove nothing
const imitations = ['claude/traps', 'codex/traps', 'gemini/traps-resize', 'gemini/altbuffer-scrollbar'];

const wrongOf = (cast: string, { activity, heldMs, rows }: Typing): string | undefined => {
  if (activity !== 'ready' || heldMs < 1_500) return `${activity} for ${heldMs} ms`;
  const prompt = emptyPrompts[cast.split('/')[0] ?? ''];
  if (!prompt || !rows.some((row) => prompt.test(row))) return `no empty prompt: ${rows.join('\n')}`;
  return imitations.includes(cast) ? undefined : rows.find((row) => questions.test(row));
};

describe('at every moment of every recording', () => {
  const typed: string[] = [];
  it.each(casts().map(({ name }) => name))(
    'a command is typed only where its truth says ready: %s',
    async (cast) => {
      const agent = Object.values<Agent>(agents).find(({ name }) => cast.startsWith(`${name}/`));
      if (!agent) throw new Error(`no runtime for ${cast}`);
      const truth = truths.find((each) => each.cast === cast);
      const { typings, activities } = await playWishes(cast, agent, truth?.log);
      expect(activities).toEqual(
        truth?.activities.map((each) => (typeof each === 'string' ? each : each.activity)),
      );
      expect(typings.map((each) => wrongOf(cast, each)).filter((wrong) => wrong !== undefined)).toEqual([]);
      if (typings.length > 0) typed.push(cast);
    },
  );

  it('many recordings have such a moment, those of a dialog alone have none', () => {
    expect(typed.length).toBeGreaterThan(50);
    for (const cast of ['claude/apikey', 'claude/trust', 'codex/hooks-trust'])
      expect(typed).not.toContain(cast);
  });
});
