// When compactions would have come in recorded sessions, with and without the wait for the end of a piece of work:
// npm run backtest -- claude FOLDER codex FOLDER …; without arguments the session files of the fixtures. It only reads.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importBundle, root } from './bench/bundle.js';

const SOURCE = `
export { agents } from './src/agents/index.js';
export { toAgentFacts } from './src/agents/agent.js';
export { parseRecordTime } from './src/agents/records.js';
export { startFlow, stepFlow, flowDeadline } from './src/core/session-flow.js';
export { makeFactCoalescer, makeFileReader } from './src/session-files/session-facts.js';
export { makeWorkFollower } from './src/session-files/follow-work.js';
`;

const load = (folder) => importBundle(folder, 'backtest', SOURCE);

/** Where the window is compacted at the latest, in tokens; undefined: where the ladder has it. */
const LIMITS = [undefined, 150_000, 100_000, 60_000];
const SMALL_WINDOW = 200_000;
const LARGE_WINDOW = 1_000_000;
const compact = { mode: 'auto', command: '/compact', startMs: 5_000, finishMs: 120_000, isProactive: false };

/** What the file tells at each time: events, and the user's prompts. */
const momentsOf = ({ makeFactCoalescer, makeFileReader, makeWorkFollower, parseRecordTime }, agent, path) => {
  const coalescer = makeFactCoalescer(() => 0);
  const [file, work] = [makeFileReader(agent.log, {}, coalescer), makeWorkFollower(coalescer)];
  const moments = [];
  let last = 0;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const at = Math.max(last, agent.log.timeOf?.(line) ?? parseRecordTime(line).at ?? last);
    const result = file.read(line, at);
    work.read(line, result);
    const entries = (result.steps?.() ?? []).flatMap((step) => (step.kind === 'record' ? step.entries : []));
    const isPrompt = entries.some(({ kind, isCopy }) => kind === 'prompt' && !isCopy);
    const status = agent.log.stateIn?.(line)?.state;
    moments.push({ at, isPrompt, status, events: coalescer.flush() });
    last = at;
  }
  return moments;
};

/** A session with a clock, up to the first order to compact in each window. */
const makePlay = ({ startFlow, stepFlow, flowDeadline, toAgentFacts }, agent, { window, limit }) => {
  const context = { agent: toAgentFacts(agent, {}), compact, window };
  let flow;
  let now;
  let typed;
  const look = (next) => {
    flow = next;
    if (typed || !flow.compaction.effects.some(({ type }) => type === 'type-compact')) return;
    typed = {
      at: now,
      used: flow.session.fused?.reading.usedTokens ?? 0,
      tier: flow.session.fused?.actingTier,
    };
  };
  const tell = (event) => look(stepFlow(flow, event, now));
  const begin = (at) => {
    [flow, now, typed] = [startFlow(context, at), at, undefined];
    if (limit !== undefined) tell({ type: 'limit', limit: { value: limit, unit: 'tokens' } });
  };
  return {
    begin,
    tell,
    typed: () => typed,
    is: (activity) => tell({ type: 'activity', report: { activity, witnesses: [] } }),
    goTo: (at) => {
      for (
        let due = flowDeadline(flow, now);
        !typed && due !== undefined && due <= at;
        due = flowDeadline(flow, now)
      ) {
        now = Math.max(due, now);
        tell({ type: 'alarm' });
      }
      now = at;
    },
  };
};

/** The first order to compact in each window of a session, as a pair: without the wait, with it. What came after the last record is unknown. */
const ordersOf = (program, agent, moments, settings) => {
  const plays = [makePlay(program, agent, settings), makePlay(program, agent, settings)];
  const all = (act) => plays.forEach(act);
  const pairs = [];
  let last = moments[0]?.at ?? 0;
  let isBusy = true;
  const rest = (is, at) => {
    if (isBusy === !is) return;
    isBusy = !is;
    all((play) => {
      play.goTo(at);
      play.is(is ? 'ready' : 'busy');
    });
  };
  all((play) => play.begin(last));
  for (const { at, isPrompt, status, events } of moments) {
    if (status === undefined && isPrompt && at > last) rest(true, last);
    all((play) => play.goTo(at));
    if (isPrompt || status === 'busy') rest(false, at);
    for (const event of events) {
      if (event.type === 'boundary' || event.type === 'voided') {
        pairs.push(plays.map((play) => play.typed()));
        all((play) => play.begin(at));
        all((play) => play.is(isBusy ? 'busy' : 'ready'));
      } else all((play, index) => (index === 1 || event.type !== 'work') && play.tell(event));
    }
    if (status === 'idle') rest(true, at);
    last = at;
  }
  pairs.push(plays.map((play) => play.typed()));
  return pairs;
};

const windowOf = (moments) => {
  const most = Math.max(
    ...moments.flatMap(({ events }) =>
      events.map((event) => (event.type === 'reading' ? (event.reading.usedTokens ?? 0) : 0)),
    ),
  );
  return most > SMALL_WINDOW ? LARGE_WINDOW : SMALL_WINDOW;
};

const middle = (numbers) =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;

/** The sizes of the window at each stop in the middle of a plan, with the time of the stop. */
const stopsIn = (moments) => {
  const stops = [];
  let [work, used, last] = [{}, 0, 0];
  for (const { at, isPrompt, status, events } of moments) {
    const isStop = status === undefined ? isPrompt : status === 'idle';
    if (isStop && work.plan && !work.ended && used > 0)
      stops.push({ at: status === undefined ? last : at, used });
    for (const event of events) {
      if (event.type === 'work') ({ work } = event);
      if (event.type === 'reading') used = event.reading.usedTokens ?? used;
      if (event.type === 'boundary' || event.type === 'voided') used = 0;
    }
    last = at;
  }
  return stops;
};

/** Each stop in the middle of a plan as if the window had just become full. */
const atStops = (program, agent, moments, window) =>
  stopsIn(moments).flatMap(({ at, used }) =>
    ordersOf(program, agent, moments, { window, limit: used })
      .filter(([without]) => without && without.at >= at && without.at < at + SOON_MS)
      .slice(0, 1),
  );
const SOON_MS = 60_000;
const WAIT_MS = 600_000;

const endOf = ([without, waited]) => {
  if (!waited) return 'never';
  if (waited.at === without.at) return 'at once';
  if (waited.tier === 'hard') return 'hard';
  return waited.at - without.at >= WAIT_MS - SOON_MS ? 'ten minutes' : 'end';
};

const rowOf = (name, condition, pairs) => {
  const due = pairs.filter(([without]) => without);
  const count = (end) => due.filter((pair) => endOf(pair) === end).length;
  const moved = due.filter(([without, waited]) => waited && waited.at > without.at);
  const tokens = moved.map(([without, waited]) => (waited.used - without.used) / 1_000);
  const minutes = moved.map(([without, waited]) => (waited.at - without.at) / 60_000);
  const spread = (numbers) =>
    numbers.length === 0 ? '–' : `${middle(numbers).toFixed(1)}, ${Math.max(...numbers).toFixed(1)}`;
  const ends = ['end', 'ten minutes', 'hard', 'never'].map(count);
  return [name, condition, due.length, moved.length, ...ends, spread(tokens), spread(minutes)];
};

const HEAD = [
  'agent',
  'auto',
  'due',
  'moved',
  'to an end',
  'to ten minutes',
  'to hard',
  'not within the file',
  'k tokens: median, most',
  'minutes: median, most',
];
const conditionOf = (limit) => (limit === undefined ? 'the ladder' : `${limit / 1_000}k`);

const filesIn = (path) =>
  statSync(path).isFile()
    ? [path]
    : readdirSync(path, { recursive: true, encoding: 'utf8' })
        .map((name) => join(path, name))
        .filter((name) => name.endsWith('.jsonl') && statSync(name).isFile());

const fixtures = ['claude', 'codex', 'kimi', 'qwen'].flatMap((name) => [
  name,
  join(root, 'test/fixtures/logs', name),
]);

const run = async (args) => {
  const folder = mkdtempSync(join(tmpdir(), 'ctxwrap-backtest-'));
  try {
    const program = await load(folder);
    const rows = [HEAD];
    for (let index = 0; index + 1 < args.length; index += 2) {
      const [name, path] = args.slice(index, index + 2);
      const agent = program.agents[name];
      const pairs = [[], ...LIMITS.map(() => [])];
      for (const file of filesIn(path)) {
        const moments = momentsOf(program, agent, file);
        const window = windowOf(moments);
        pairs[0].push(...atStops(program, agent, moments, window));
        LIMITS.forEach((limit, place) =>
          pairs[place + 1].push(...ordersOf(program, agent, moments, { window, limit })),
        );
      }
      const conditions = ['full at a stop in the middle of a plan', ...LIMITS.map(conditionOf)];
      conditions.forEach((condition, place) => rows.push(rowOf(name, condition, pairs[place])));
    }
    const [head, ...body] = rows.map((row) => `| ${row.join(' | ')} |`);
    return [head, `|${'---|'.repeat(rows[0].length)}`, ...body].join('\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const given = process.argv.slice(2);
console.log(await run(given.length > 0 ? given : fixtures));
