import { posix } from 'node:path';
import type { ChildPlace, SettingsPort } from './agent.js';
import type { OwnSetting, SettingsContext } from './own-compaction.js';

// What an agent keeps on this machine besides its sessions, for `ctxwrap doctor`.

/** Where an agent looks for its files. */
export type AgentFolders = Pick<ChildPlace, 'env' | 'home' | 'cwd'>;

export interface AgentHome {
  /** versions tested in the lab, newest first; docs/agents.md lists the same */
  readonly played: readonly string[];
  /** the window of its usual model, in tokens */
  readonly usualWindowTokens: number;
  /** the large window that the user can declare for its models (`claude.million`), in tokens; undefined where there is no such setting */
  readonly largeWindowTokens?: number;
  /** the folder that holds its session files */
  readonly sessions: (where: AgentFolders) => string;
  /** more such folders, for sessions that were put away; none when absent */
  readonly archives?: (where: AgentFolders) => readonly string[];
  /**
   * what a file is, by its path below such a folder: a session, a packed one, or (undefined) something else, as a subagent's. Its past
   * sessions are not looked for when absent
   */
  readonly sessionFile?: (relativePath: string) => SessionFileKind | undefined;
  /** the agent's id of a session, or the beginning of it, by the path of its file; the name of the file without its ending when absent */
  readonly idInPath?: (path: string) => string;
  /** the folder that a session file's conversation was started in, where the file itself does not tell */
  readonly projectOf?: (port: SettingsPort, path: string) => Promise<string | undefined>;
  /** reads how long it keeps its session files; undefined for an agent that is not known to delete any */
  readonly retention?: (port: SettingsPort, where: SettingsContext) => Promise<Retention>;
}

/** As `AgentHome.idInPath`, in lower case; the path may be of another agent's kind, or of a copy. */
export const idInPath = (home: Pick<AgentHome, 'idInPath'> | undefined, path: string): string =>
  (home?.idInPath?.(path) ?? posix.basename(path).replace(SESSION_ENDING, '')).toLowerCase();

/** The ending of what agents call a session file, packed or not. */
export const SESSION_ENDING = /\.jsonl?(?:\.(?:gz|zst))?$/;

export type SessionFileKind = 'session' | 'packed';

/** How long an agent keeps its session files (transcripts). */
export interface Retention {
  readonly days: number;
  /** the setting that changes it */
  readonly setting: string;
  /** the user's file for that setting */
  readonly userFile: string;
  /** the setting in effect; undefined where the default holds */
  readonly given?: OwnSetting;
  /** what the agent does with a value that is not a number of days */
  readonly meaning?: string;
}
