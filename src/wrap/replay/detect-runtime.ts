import { basename } from 'node:path';
import type { Runtime } from '../../runtimes/runtime.js';
import type { RecordingFile, RecordingHeader } from '../../storage/recording-file.js';
import { settledScreens } from './settled-screens.js';

const LEAD = 20; // screens that only one runtime knows as its own decide, however long the recording goes on

/** The runtime whose agent was recorded: the header names its command, or most of the screens are its own; undefined for any other. */
export const detectRuntime = async (
  recording: RecordingFile,
  table: readonly Runtime[],
): Promise<Runtime | undefined> => {
  try {
    return namedRuntime(recording.header, table) ?? (await recognisedRuntime(recording, table));
  } finally {
    await recording.close();
  }
};

const namedRuntime = (
  { command, title }: RecordingHeader,
  table: readonly Runtime[],
): Runtime | undefined => {
  const words = [command, title].map((text) => basename(text?.trim().split(/\s+/)[0] ?? ''));
  return table.find((runtime) => runtime.command !== undefined && words.includes(runtime.command));
};

const recognisedRuntime = async (
  { header, events }: RecordingFile,
  table: readonly Runtime[],
): Promise<Runtime | undefined> => {
  const counts = table.map(() => 0);
  for await (const moment of settledScreens(header, events())) {
    if (moment.type !== 'screen') continue;
    table.forEach((runtime, index) => {
      if (runtime.screen?.recognises(moment.seen)) counts[index] = (counts[index] ?? 0) + 1;
    });
    const known = counts.filter((count) => count > 0);
    if (known.length === 1 && Math.max(...known) >= LEAD) break;
  }
  const most = Math.max(...counts);
  return most > 0 ? table[counts.indexOf(most)] : undefined;
};
