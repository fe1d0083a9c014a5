import { dirname, join } from 'node:path';
import type { NewSessionForm } from '../agents/agent.js';
import type { NewSession } from '../core/conversation.js';
import { createFile } from '../storage/files.js';
import { makeFolder } from '../storage/state-folder.js';

/**
 * Writes a new session of an agent, in the place of its other sessions, of which `besidePath` is one. Resolves with the path of its file. Rejects
 * with the system's error, and with that of `lines`.
 */
export const writeSession = async (
  besidePath: string,
  form: NewSessionForm,
  as: NewSession,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<string> => {
  const path = join(dirname(besidePath), form.fileName(as));
  await makeFolder(dirname(path)); // an agent that has cleaned up may have removed it with the file
  await createFile(path, lines);
  for (const file of form.beside?.(path, as) ?? []) await createFile(file.path, [file.text]);
  return path;
};
