import type { Agent } from '../../agents/agent.js';
import { agents } from '../../agents/index.js';
import { ladderChoice } from '../../core/config/keys.js';
import { counted } from '../../core/format.js';
import { jsonText, own, type Printable, stripControls, toPrintableLines } from '../../core/printable.js';
import type { ReplayedReading, ReplayEvent } from '../../replay/events.js';
import { openReplay } from '../../replay/replay.js';
import { detectAgent } from '../../replay/sources.js';
import { openRecordingFile } from '../../storage/recording-reader.js';
import { linesToPrint, print } from '../print.js';
import type { ReplayRequest } from '../define/replay.js';
import { agentFromOption } from '../agent-option.js';
import type { Outcome } from '../session.js';

// A replay for people: one line per event, in columns, then a summary.

/** `   3.402  reading   screen    62 % of auto-compact · 103 300 of 200 000   safe` */
export const replayLine = (event: ReplayEvent): string => {
  const [kind, what, rest] = columnsOf(event);
  const line = `${event.at.toFixed(3).padStart(9)}  ${kind.padEnd(8)}  ${what.padEnd(10)}  ${rest}`;
  return stripControls(line).trimEnd(); // evidence quotes screens
};

export const replaySummary = (agent: string, seconds: number, events: readonly ReplayEvent[]): string => {
  const count = (schema: ReplayEvent['schema']): number =>
    events.filter((event) => event.schema === schema).length;
  const counts = [
    counted(count('ctxwrap.reading/1'), 'reading'),
    counted(count('ctxwrap.activity/1'), 'activity change'),
    counted(count('ctxwrap.tier/1'), 'tier change'),
    counted(count('ctxwrap.boundary/1'), 'compaction'),
  ];
  return `${agent}, ${seconds.toFixed(1)} s: ${counts.join(', ')}`;
};

const columnsOf = (event: ReplayEvent): readonly [kind: string, what: string, rest: string] => {
  switch (event.schema) {
    case 'ctxwrap.reading/1':
      return ['reading', event.source, `${numbers(event).padEnd(44)}  ${event.tier ?? ''}`];
    case 'ctxwrap.activity/1':
      return ['activity', event.activity, event.witnesses.join(', ')];
    case 'ctxwrap.tier/1':
      return ['tier', event.tier ?? 'none', event.from === null ? '' : `was ${event.from}`];
    case 'ctxwrap.boundary/1':
      return ['boundary', event.initiator ?? '', sizes(event.pre_tokens, event.post_tokens)];
  }
};

const numbers = ({ usedPercent, over, usedTokens, windowTokens, basis, exact }: ReplayedReading): string => {
  const percent = usedPercent === undefined ? [] : [`${over ? '>100' : usedPercent}% of ${basis}`];
  const tokens =
    usedTokens === undefined ? [] : [`${grouped(usedTokens)} token${usedTokens === 1 ? '' : 's'}`];
  const window = windowTokens === undefined ? [] : [`window ${grouped(windowTokens)}${exact ? '' : '?'}`];
  return [...percent, ...tokens, ...window].join(' · ');
};

const sizes = (before: number | undefined, after: number | undefined): string =>
  before === undefined && after === undefined
    ? ''
    : `${before === undefined ? '?' : grouped(before)} → ${after === undefined ? '?' : grouped(after)} tokens`;

const grouped = (tokens: number): string => String(tokens).replace(/\B(?=(\d{3})+$)/g, ' ');

/** `ctxwrap replay FILE.cast`: what the wrapper would have read and shown. */
export const replay = async ({ path, logs = [], json, ndjson, options }: ReplayRequest): Promise<Outcome> => {
  const open = () => openRecordingFile(path);
  const detected = async (): Promise<Agent | undefined> => detectAgent(await open(), Object.values(agents));
  const agent =
    (await agentFromOption(options.runtime, options.configured?.runtimes)) ??
    (await detected()) ??
    agents.generic;
  const { events, notes, seconds } = await openReplay({
    open,
    logs,
    agent: agent,
    env: {}, // this machine's settings do not apply to the recorded agent
    window: options.values.window,
    ladder: ladderChoice(options.values),
  });
  const printer = printers[json ? 'json' : ndjson ? 'ndjson' : 'text'](agent.name);
  const all: ReplayEvent[] = [];
  for await (const event of events) {
    if (!ndjson) all.push(event);
    if (!(await print(printer.line(event)))) break;
  }
  await print(printer.end(all, seconds()));
  return { status: { kind: 'code', code: 0 }, notices: notes() };
};

interface Printer {
  readonly line: (event: ReplayEvent) => Printable;
  readonly end: (events: readonly ReplayEvent[], seconds: number) => Printable;
}

const printers: Readonly<Record<'text' | 'json' | 'ndjson', (agent: string) => Printer>> = {
  text: (agent) => ({
    line: (event) => linesToPrint([replayLine(event)]),
    end: (events, seconds) => toPrintableLines([replaySummary(agent, seconds, events)]),
  }),
  json: (agent) => ({
    line: () => own``,
    end: (events) => jsonText({ schema: 'ctxwrap.replay/1', runtime: agent, events }, 2),
  }),
  ndjson: () => ({ line: (event) => jsonText(event), end: () => own`` }),
};
