// Each recording is played once, and everything is asked of its screens that all of them must answer.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Activity } from '../../src/core/reading.js';
import type { Event } from '../../src/core/event.js';
import { agents } from '../../src/agents/index.js';
import { toAgentFacts, type Agent } from '../../src/agents/agent.js';
import { casts } from '../support/casts.js';
import { HARD_TOKENS, playCompaction } from '../support/compaction-play.js';
import { playRecording, type RecordedScreen } from '../support/screen-play.js';
import { tokens } from '../support/sessions.js';

interface Truth {
  readonly cast: string;
  readonly log?: readonly string[];
  readonly activities: readonly (string | { readonly activity: string })[];
}

const folder = fileURLToPath(new URL('../fixtures/truth/', import.meta.url));
const truths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(folder + name, 'utf8')) as Truth);

const recordings = casts().map(({ name }) => name);

const agentOf = (cast: string): Agent => {
  const agent = Object.values<Agent>(agents).find(({ name }) => cast.startsWith(`${name}/`));
  if (!agent) throw new Error(`no runtime for ${cast}`);
  return agent;
};

const playings = new Map<string, Promise<readonly RecordedScreen[]>>();

/** The screens of a recording, which is played when they are first asked for; with the session file it is another play. */
const screensOf = (cast: string, logs: readonly string[] = []): Promise<readonly RecordedScreen[]> => {
  const key = [cast, ...logs].join(' ');
  const playing = playings.get(key) ?? playRecording(cast, agentOf(cast), logs);
  playings.set(key, playing);
  return playing;
};

describe('the agent of a recording', () => {
  it.each(recordings)('is recognised in %s, and is not taken for another one', async (cast) => {
    const names = (await screensOf(cast)).flatMap(({ recognisedBy }) => recognisedBy);
    expect([...new Set(names)]).toEqual([agentOf(cast).name]);
  });
});

// The prompt.

// One screen alone does not show vim's normal mode, which Claude marks by nothing: there only the activity keeps keys away.
const isVimNormal = ({ activity }: RecordedScreen): boolean =>
  activity.witnesses.includes('vim without insert mode');

const places: Readonly<Record<Activity, readonly (string | undefined)[] | 'any text'>> = {
  ready: [''],
  draft: 'any text',
  busy: 'any text', // a prompt is there, and what is sent waits behind the turn
  compacting: 'any text',
  dialog: [undefined],
  unknown: [undefined],
  dead: [undefined],
};

const isWrong = (screen: RecordedScreen): boolean => {
  const text = screen.prompt?.text;
  if (screen.activity.activity === 'draft') return text === '';
  const allowed = places[screen.activity.activity];
  return allowed !== 'any text' && !allowed.includes(text) && !isVimNormal(screen);
};

/** Gemini and Qwen keep their prompt below much that takes keys. */
const isWrongBelow = ({ activity: { activity }, prompt }: RecordedScreen): boolean => {
  if (activity === 'ready') return prompt?.text !== '';
  if (activity === 'dialog') return prompt !== undefined;
  return prompt?.text === '' && !['busy', 'compacting'].includes(activity);
};

const compressing = recordings.filter((cast) => /^(?:gemini|qwen)\//.test(cast));

describe('the prompt that is seen', () => {
  it.each(recordings.filter((cast) => /^(?:claude|codex|gemini|qwen)\//.test(cast)))(
    'in %s is empty whenever the agent is ready, and never where keys could do harm',
    async (cast) => {
      const played = await screensOf(cast);
      expect(played.length).toBeGreaterThan(0);
      const wrong = played.filter(compressing.includes(cast) ? isWrongBelow : isWrong);
      expect(wrong.map(({ at, activity, prompt, rows }) => ({ at, activity, prompt, rows }))).toEqual([]);
    },
  );

  it.each(['gemini/compress-ends', 'qwen/compress-ends'])(
    'in %s holds the command as it was typed',
    async (cast) => {
      const texts = (await screensOf(cast)).map(({ prompt }) => prompt?.text);
      expect(texts).toContain('/compress');
      expect(texts).toContain('hello while');
    },
  );
});

// How compactions ended, by what the screens say.

const ends: Readonly<Record<string, readonly string[]>> = {
  'gemini/altbuffer-scrollbar': ['done from 445'],
  'gemini/panels': ['done from 210000', 'done from 300000'],
  'gemini/compress-ends': ['noop', 'done from 450000', 'failed error', 'done from 300000'],
  'gemini/compress-failures': ['failed error', 'noop', 'failed inflated', 'done from 500000'],
  'gemini/compress-success': ['noop', 'done from 500000'],
  'gemini/old-0.20.0': ['done from 500000'],
  'gemini/old-0.30.0': ['done from 500000'],
  'gemini/traps-resize': ['done from 310000'],
  'gemini/vim': ['done from 330000'],
  'qwen/old-0.15.10': ['done from 55020', 'failed error'],
  'qwen/compress-done': ['done from 60000', 'done from 60000'],
  'qwen/compress-ends': ['noop', 'interrupted', 'noop', 'failed error', 'failed empty'],
  'qwen/qwen-compress': ['failed inflated', 'interrupted'],
};

describe('the end of a compaction in the recordings', () => {
  it.each(compressing)('of %s is told once each', async (cast) => {
    const told = (await screensOf(cast))
      .flatMap(({ facts }) => facts)
      .flatMap((fact) => {
        if (fact.type === 'boundary') return [`done from ${fact.boundary.preTokens}`];
        if (fact.type !== 'compact-result') return [];
        const { result } = fact;
        return [result.kind === 'failed' ? `failed ${result.failure}` : result.kind];
      });
    expect(told).toEqual(ends[cast] ?? []);
  });
});

// Every recording through the whole path from bytes to effects, with a window that is full from the start: a compaction is wanted at each
// moment, so that only the gate prevents typing. Text that would be typed into a dialog, a picker, shell mode or a draft is found here.

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
const playWishes = async (cast: string, logs: readonly string[] = []) => {
  const wishers = [true, false].map((isAsked) => makeWisher(agentOf(cast), isAsked));
  const played = await screensOf(cast, logs);
  for (const { atMs, events, rows } of played)
    for (const wisher of wishers) wisher.see(events, rows, Math.ceil(atMs));
  const activities = played
    .flatMap(({ events }) => events)
    .flatMap((event) => (event.type === 'activity' ? [event.report.activity] : []));
  return { typings: wishers.flatMap(({ typings }) => typings), activities };
};

// The empty prompt of each agent, described independently of the readers under test.
const emptyPrompts: Readonly<Record<string, RegExp>> = {
  claude: /^[❯>$]\s*$/, // `>` in old versions, `$` for screen readers
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
  it.each(recordings)('a command is typed only where its truth says ready: %s', async (cast) => {
    const truth = truths.find((each) => each.cast === cast);
    const { typings, activities } = await playWishes(cast, truth?.log);
    expect(activities).toEqual(
      truth?.activities.map((each) => (typeof each === 'string' ? each : each.activity)),
    );
    expect(typings.map((each) => wrongOf(cast, each)).filter((wrong) => wrong !== undefined)).toEqual([]);
    if (typings.length > 0) typed.push(cast);
  });

  it('many recordings have such a moment, those of a dialog alone have none', () => {
    expect(typed.length).toBeGreaterThan(50);
    for (const cast of ['claude/apikey', 'claude/trust', 'codex/hooks-trust'])
      expect(typed).not.toContain(cast);
  });
});
