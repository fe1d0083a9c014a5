import type { LineStep } from '../../runtimes/runtime.js';

/** How well the lines of a session file fit what is known of the runtime's files, since its last reading. */
export interface FileShape {
  readonly hasReading: boolean;
  readonly lines: number;
  readonly misfits: number;
  readonly reason?: string;
}

export const unknownShape: FileShape = { hasReading: false, lines: 0, misfits: 0 };

// One torn line in a file that was understood so far means nothing.
const MISFITS_AFTER_READING = 3;
// A conversation has an answer with its usage long before this.
const LINES_WITHOUT_READING = 200;

export const seeLine = (shape: FileShape, step: LineStep): FileShape => {
  if (step.facts.some((fact) => fact.type === 'reading')) return { ...unknownShape, hasReading: true };
  const lines = shape.lines + 1;
  return step.misfit === undefined
    ? { ...shape, lines }
    : { ...shape, lines, misfits: shape.misfits + 1, reason: step.misfit };
};

/** Why the file cannot be read as a session of this runtime, if that is what it looks like. */
export const shapeProblem = ({ hasReading, lines, misfits, reason }: FileShape): string | undefined => {
  if (misfits >= (hasReading ? MISFITS_AFTER_READING : 1)) return reason;
  return !hasReading && lines >= LINES_WITHOUT_READING ? 'no usage in any record' : undefined;
};
