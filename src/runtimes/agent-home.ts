// What an agent has on this machine beside its sessions, for `ctxwrap doctor`.
import type { NativeTrigger } from '../core/ladder.js';
import type { FilePort } from './file-port.js';
import type { Place } from './place.js';

/** Where an agent looks for its files. */
export type Homestead = Pick<Place, 'env' | 'home' | 'cwd'>;

export interface AgentHome {
  /** versions that the lab has played, the newest first; docs/agents.md has the same */
  readonly played: readonly string[];
  /** the window of its usual model, in tokens */
  readonly usualWindowTokens: number;
  /** the folder that holds its session files */
  readonly sessions: (where: Homestead) => string;
  /** where its own settings say that it compacts; undefined where they say nothing */
  readonly ownSetting: (
    port: Pick<FilePort, 'smallText'>,
    where: Homestead,
  ) => Promise<OwnSetting | undefined>;
}

/** A setting of the agent's own that moves where it compacts by itself. */
export interface OwnSetting {
  readonly file: string;
  readonly name: string;
  readonly value: string;
  /** undefined: it does not compact by itself */
  readonly trigger: NativeTrigger | undefined;
}

/** A setting by its place: `pattern` finds its value in the file's text, with comments or without. */
export interface SettingPlace {
  readonly file: string;
  readonly name: string;
  readonly pattern: RegExp;
  /** undefined for a value that means nothing */
  readonly triggerOf: (value: string) => { readonly trigger: NativeTrigger | undefined } | undefined;
}

/** The first of these settings that says something. */
export const ownSettingIn = async (
  port: Pick<FilePort, 'smallText'>,
  places: readonly SettingPlace[],
): Promise<OwnSetting | undefined> => {
  for (const { file, name, pattern, triggerOf } of places) {
    const value = pattern.exec((await port.smallText(file)) ?? '')?.[1];
    const found = value === undefined ? undefined : triggerOf(value);
    if (value !== undefined && found) return { file, name, value, trigger: found.trigger };
  }
  return undefined;
};

/** It compacts at a share of the window, when that share means anything. */
export const atShare = (value: string): { readonly trigger: NativeTrigger | undefined } | undefined => {
  const share = Number(value);
  if (!(share > 0)) return undefined;
  return { trigger: share < 1 ? { share, reserveTokens: 0 } : undefined };
};
