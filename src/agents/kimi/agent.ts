import { posix } from 'node:path';
import type { NativeTrigger } from '../../core/build-ladder.js';
import { getCount, parseRecord, type JsonRecord } from '../../core/json.js';
import type { Agent } from '../agent.js';
import type { AgentHome } from '../home.js';
import type { OwnCompactionSource, OwnSetting } from '../own-compaction.js';
import {
  idInPath,
  kimiFolder,
  locateKimi,
  parseStatus,
  projectOf,
  sessionFile,
  sessionsFolder,
} from './files.js';
import { kimiLaunch } from './launch.js';
import { kimiNewSessions } from './new-session.js';
import { kimiScreen } from './screen.js';
import { kimiReader, kimiSession } from './session.js';

const USUAL_TOKENS = 262_144; // of its usual model

const kimiHome: AgentHome = {
  played: ['2.1.0', '0.43.1'],
  usualWindowTokens: USUAL_TOKENS,
  sessions: sessionsFolder,
  sessionFile,
  idInPath,
  projectOf,
};

// Kimi's own compaction (docs/facts/kimi.md): at a share of the window, or where only its reserve is left; a reserve that is no smaller than
// the window does not count.

const SHARE = 0.85;
const RESERVE_TOKENS = 50_000;

const triggerAt = (share: number, leastFreeTokens: number): NativeTrigger => ({
  share,
  reserveTokens: 0,
  leastFreeTokens,
});

const usualTrigger = triggerAt(SHARE, RESERVE_TOKENS);

/** A number of the table `[loop_control]`. */
const numberIn = (text: string, name: string): number | undefined => {
  const [, table] = /^[ \t]*\[loop_control\][ \t]*(?:#.*)?$([^]*?)(?=^[ \t]*\[|(?![^]))/m.exec(text) ?? [];
  const found = new RegExp(`^[ \\t]*${name}[ \\t]*=[ \\t]*([\\d_.]+)[ \\t]*(?:#.*)?$`, 'm').exec(table ?? '');
  const number = Number(found?.[1]?.replaceAll('_', ''));
  return found && Number.isFinite(number) ? number : undefined;
};

const LEAST_SHARE = 0.5;
const MOST_SHARE = 0.99;

const kimiCompaction: OwnCompactionSource = {
  isReadOnce: true, // also by its command `/reload` (docs/facts/kimi.md)
  read: async (port, where) => {
    const place = posix.join(kimiFolder(where), 'config.toml');
    const text = (await port.text(place)) ?? '';
    const share = numberIn(text, 'compaction_trigger_ratio');
    const reserve = numberIn(text, 'reserved_context_size');
    const isPossible = share !== undefined && share >= LEAST_SHARE && share <= MOST_SHARE;
    const settingOf = (name: string, value: number | undefined): readonly OwnSetting[] =>
      value === undefined ? [] : [{ name: `loop_control.${name}`, value: String(value), place }];
    return {
      trigger: triggerAt(isPossible ? share : SHARE, reserve ?? RESERVE_TOKENS),
      settings: [
        ...settingOf('compaction_trigger_ratio', isPossible ? share : undefined),
        ...settingOf('reserved_context_size', reserve),
      ],
    };
  },
};

const OWN_TYPES =
  /^(?:turn\.(?:prompt|steer|cancel|ended)|agent\.(?:turn|message)\.\w+|(?:config|context|usage|token_counting|full_compaction|micro_compaction|permission|plan_mode|swarm_mode|tools|llm|mcp|goal|profile|runtime|prompt|plugin|interaction)\.\w+)$/;

/** A record that only Kimi Code writes; versions with protocol 1.4 name no agent in it. */
const isKimiRecord = ({ type, protocol_version: version }: JsonRecord): boolean =>
  typeof type === 'string' && (type === 'metadata' ? typeof version === 'string' : OWN_TYPES.test(type));

export const kimi: Agent = {
  ...kimiLaunch,
  home: kimiHome,
  nativeTrigger: () => usualTrigger,
  ownCompaction: kimiCompaction,
  log: {
    locate: locateKimi,
    reader: kimiReader,
    stateIn: parseStatus,
    timeOf: (line) => getCount(parseRecord(line), 'time') ?? getCount(parseRecord(line), 'created_at'),
    recognises: isKimiRecord,
    conversation: kimiSession,
  },
  newSessions: kimiNewSessions,
  readsMentions: true,
  screen: kimiScreen,
};
