import { runtimes } from '../../runtimes/index.js';
import type { Runtime } from '../../runtimes/runtime.js';
import { openRecordingFile } from '../../storage/recording-file.js';
import { detectRuntime } from '../../wrap/replay/detect-runtime.js';
import { openReplay } from '../../wrap/replay/replay.js';
import type { ReplayEvent } from '../../wrap/replay/records.js';
import { jsonText } from '../json-text.js';
import { print } from '../print.js';
import type { ReplayRequest } from '../request.js';
import { replayLine, replaySummary } from '../replay-text.js';
import { runtimeFromOption } from '../runtime-option.js';
import { drawnFor } from '../signs.js';
import { ladderChoice } from '../ladder-choice.js';
import type { Outcome } from '../session.js';

/** `ctxwrap replay FILE.cast`: what the wrapper would have read, known and shown. */
export const replay = async ({ path, logs, format, options }: ReplayRequest): Promise<Outcome> => {
  const open = () => openRecordingFile(path);
  const detected = async (): Promise<Runtime | undefined> =>
    detectRuntime(await open(), Object.values(runtimes));
  const runtime =
    (await runtimeFromOption(options.runtime, options.configured?.runtimes)) ??
    (await detected()) ??
    runtimes.generic;
  const { events, notes, seconds } = await openReplay({
    open,
    logs,
    runtime,
    env: {}, // this machine's settings are not the recorded agent's
    window: options.window,
    ladder: ladderChoice(options),
  });
  const printer = printers[format](runtime.name);
  const all: ReplayEvent[] = [];
  for await (const event of events) {
    if (format !== 'ndjson') all.push(event);
    if (!(await print(printer.line(event)))) break;
  }
  await print(printer.end(all, seconds()));
  return { status: { kind: 'code', code: 0 }, notices: notes() };
};

interface Printer {
  readonly line: (event: ReplayEvent) => string;
  readonly end: (events: readonly ReplayEvent[], seconds: number) => string;
}

const printers: Readonly<Record<ReplayRequest['format'], (runtime: string) => Printer>> = {
  text: (runtime) => ({
    line: (event) => drawnFor(`${replayLine(event)}\n`, process.env),
    end: (events, seconds) => `${replaySummary(runtime, seconds, events)}\n`,
  }),
  json: (runtime) => ({
    line: () => '',
    end: (events) => jsonText({ schema: 'ctxwrap.replay/1', runtime, events }, 2),
  }),
  ndjson: () => ({ line: (event) => jsonText(event), end: () => '' }),
};
