import { posix } from 'node:path';
import type { NativeTrigger } from '../../core/build-ladder.js';
import { isRecord, type JsonRecord } from '../../core/json.js';
import type { Agent } from '../agent.js';
import type { AgentHome } from '../home.js';
import { splitWords } from '../launch.js';
import type { OwnCompactionSource, OwnSetting } from '../own-compaction.js';
import type { PrintMode } from '../print-mode.js';
import { codexChannel } from './channel.js';
import { codexFolder, codexLaunch } from './launch.js';
import { codexNewSessions } from './new-session.js';
import { idInPath, locateCodex, parseStatus, sessionFile } from './files.js';
import { codexScreen } from './screen.js';
import { codexReader, codexSession } from './session.js';

// 95 % of the 272 000 of its usual model, as it reports them (docs/facts/codex.md#windows)
const USUAL_TOKENS = 258_400;

const codexHome: AgentHome = {
  played: ['0.171.0', '0.169.0', '0.154.0'],
  usualWindowTokens: USUAL_TOKENS,
  sessions: (where) => posix.join(codexFolder(where), 'sessions'),
  archives: (where) => [posix.join(codexFolder(where), 'archived_sessions')],
  sessionFile,
  idInPath,
};

// Codex's own compaction (docs/facts/codex.md#compaction): at 90 % of the raw window, or earlier where the user sets it; it cannot be disabled.

const NAME = 'model_auto_compact_token_limit';

// Codex reports 95 % of the raw window as the window.
const usualTrigger: NativeTrigger = { share: 0.9 / 0.95, reserveTokens: 0 };

const codexCompaction: OwnCompactionSource = {
  read: async (port, where) => {
    const file = posix.join(codexFolder(where), 'config.toml');
    const limit = inArguments(where.args) ?? inFile(file, (await port.text(file)) ?? '');
    if (!limit) return { trigger: usualTrigger, settings: [] };
    return { trigger: { ...usualTrigger, mostTokens: limit.tokens }, settings: [limit.setting] };
  },
};

interface OwnLimit {
  readonly setting: OwnSetting;
  readonly tokens: number;
}

const limitOf = (value: string | undefined, place: string): OwnLimit | undefined => {
  const tokens = Number(value?.replaceAll('_', ''));
  return value !== undefined && Number.isSafeInteger(tokens) && tokens > 0
    ? { setting: { name: NAME, value, place }, tokens }
    : undefined;
};

const FLAG = /^(?:-c|--config)$/;
const JOINED_FLAG = /^(?:-c=?|--config=)(?=\w)/;

/** `-c NAME=VALUE`, `--config=NAME=VALUE`; the last one wins. */
const inArguments = (args: readonly string[]): OwnLimit | undefined => {
  const end = args.indexOf('--');
  return args
    .slice(0, end < 0 ? args.length : end)
    .map((word, index, own) => (FLAG.test(word) ? own[index + 1] : word.replace(JOINED_FLAG, '')))
    .map((word) => limitOf(/^model_auto_compact_token_limit\s*=\s*([\d_]+)$/.exec(word ?? '')?.[1], '-c'))
    .findLast((limit) => limit !== undefined);
};

/** Only the part before the first table: inside a table the name is another setting. */
const inFile = (file: string, text: string): OwnLimit | undefined => {
  const [top = ''] = text.split(/^[ \t]*\[/m);
  return limitOf(
    /^[ \t]*model_auto_compact_token_limit[ \t]*=[ \t]*(\d[\d_]*)[ \t]*(?:#.*)?$/m.exec(top)?.[1],
    file,
  );
};

// Codex's print mode. Seen with 0.169.0 and 0.154.0: of its tools only `request_user_input` and `apply_patch` are left, and a patch is
// rejected by the read-only sandbox; no session file. `notify` is the user's program for the end of a turn.

const offFeatures = splitWords(`
  shell_tool unified_exec hooks apps plugins goals view_image tool_suggest multi_agent memories
`);

const printMode: PrintMode = {
  args: [
    ...splitWords('exec --ephemeral --skip-git-repo-check --sandbox read-only --color never -'),
    ...offFeatures.flatMap((name) => ['-c', `features.${name}=false`]),
    '-c',
    'web_search="disabled"',
    '-c',
    'notify=[]',
  ],
  // a table on the command line is merged with the user's, so that each server has to be switched off by its name
  ownArgs: async (port, where) => {
    const files = ['/etc/codex/config.toml', posix.join(codexFolder(where), 'config.toml')];
    const texts = await Promise.all(files.map((file) => port.text(file)));
    const names = new Set(texts.flatMap((text) => serversIn(text ?? '')));
    return [...names].flatMap((name) => ['-c', `mcp_servers.${name}.enabled=false`]);
  },
};

const SERVER = /^[ \t]*\[?[ \t]*mcp_servers[ \t]*\.[ \t]*(?:"([\w-]+)"|'([\w-]+)'|([\w-]+))/gm;

/** Names of MCP servers, as `codex mcp add` and users write them: tables, or dotted keys. Codex takes no other characters in a name. */
const serversIn = (text: string): readonly string[] =>
  [...text.matchAll(SERVER)].flatMap(([, double, single, bare]) => double ?? single ?? bare ?? []);

const OWN_TYPES =
  /^(?:session_meta|response_item|event_msg|turn_context|compacted|world_state|token_usage_record)$/;

/** A record that only Codex writes: a type of its own around a payload. */
const isCodexRecord = ({ type, payload }: JsonRecord): boolean =>
  typeof type === 'string' && OWN_TYPES.test(type) && isRecord(payload);

export const codex: Agent = {
  ...codexLaunch,
  home: codexHome,
  nativeTrigger: () => usualTrigger,
  ownCompaction: codexCompaction,
  log: {
    locate: locateCodex,
    reader: codexReader,
    stateIn: parseStatus,
    recognises: isCodexRecord,
    conversation: codexSession,
  },
  newSessions: codexNewSessions,
  // 0.169.0 says so itself: "Use /import to bring over your setup, project, and recent chats"
  imports: { from: ['claude'], command: '/import' },
  printMode,
  channel: codexChannel,
  foldsPastes: { characters: 1_000 },
  screen: codexScreen,
  // a TOML string that takes any other quotes; Codex puts its own JSON behind it as an argument, which sh leaves alone
  hooks: ({ compactFull }) => `notify = ["sh", "-c", '''${compactFull}''']\n`,
};
