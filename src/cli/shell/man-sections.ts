// What the manual page says beside commands and options.
import { exitStatus } from '../exit-status-text.js';

export const manSections: readonly (readonly [title: string, text: string])[] = [
  ['exit status', exitStatus],
  [
    'environment',
    `CTXWRAP_DISABLE=1 starts the agent with nothing in between.
NO_COLOR takes the colours away.
CTXWRAP_CONFIG names another configuration file; CTXWRAP_MODE and the like set one key each, see config show.

XDG_STATE_HOME and XDG_CONFIG_HOME say where the files are.`,
  ],
  [
    'files',
    `~/.config/ctxwrap/config.jsonc is the configuration, .ctxwrap.jsonc in a folder has less done there; config init writes the first.

~/.local/state/ctxwrap holds the sessions that run, requests to them, and audit.jsonl: each compaction with what was known before and
what came of it; verified holds what verify has found with each version of an agent. It is for its user alone.`,
  ],
];
