import { dirname, join } from 'node:path';
import type { NewSessionForm } from '../agents/agent.js';
import type { NewSession } from '../core/conversation/conversation.js';
import { errorCode } from '../core/errors.js';
import { copyToNewFile, createFile } from '../storage/files.js';
import { makeFolder } from '../storage/state-folder.js';

/**
 * Writes a new session of an agent, in the place of its other sessions, of which `besidePath` is the one that the lines are from, and copies the
 * files that they refer to and that are still there. Resolves with the path of its file. Rejects with the system's error, and with that
 * of `lines`.
 */
export const writeSession = async (
  besidePath: string,
  form: NewSessionForm,
  as: NewSession,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<string> => {
  const path = join(dirname(besidePath), form.fileName(as));
  await makeFolder(dirname(path)); // an agent that has cleaned up may have removed it with the file
  const files = new Set<string>();
  await createFile(
    path,
    noting(lines, (line) => form.filesOf?.(line).forEach((file) => files.add(file))),
  );
  for (const file of files) await copyBetween(dirname(besidePath), dirname(path), file);
  // last: it is what the agent finds the session by
  for (const file of form.beside?.(path, as) ?? []) await createFile(file.path, [file.text]);
  return path;
};

async function* noting(
  lines: AsyncIterable<string> | Iterable<string>,
  note: (line: string) => void,
): AsyncGenerator<string> {
  for await (const line of lines) {
    note(line);
    yield line;
  }
}

const copyBetween = async (from: string, to: string, file: string): Promise<void> => {
  await makeFolder(dirname(join(to, file)));
  await copyToNewFile(join(from, file), join(to, file)).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
  });
};

const ID_IN_NAME = 8;

/** What a checkpoint of ctxwrap's is called, for agents that take a conversation from one. */
export const checkpointName = ({ id }: Pick<NewSession, 'id'>): string =>
  `ctxwrap-${id.slice(0, ID_IN_NAME)}`;
