import type { TouchedFile } from '../core/conversation/conversation.js';

const PATCHED_FILE = /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm;

/** The files of a patch in the form that OpenAI's models write (`*** Begin Patch`), each once. */
export const patchedFiles = (patch: string): readonly TouchedFile[] => {
  const paths = [...patch.matchAll(PATCHED_FILE)].map(([, changed, moved]) =>
    (changed ?? moved ?? '').trim(),
  );
  return [...new Set(paths)].map((path) => ({ path, access: 'edit' }));
};
