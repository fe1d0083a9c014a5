// The boundaries as each command and screen shows them, for a session or for settings.
import { agentSection } from '../../src/cli/commands/doctor-agents.js';
import type { AgentFacts } from '../../src/cli/commands/doctor-agents.js';
import type { CheckSection } from '../../src/core/report/doctor-report.js';
import { contextSections } from '../../src/cli/context-text.js';
import { startCompaction } from '../../src/core/compaction/state.js';
import { emptyHistory } from '../../src/core/report/history.js';
import { overviewReport } from '../../src/core/report/overview-report.js';
import { contextReport } from '../../src/core/report/context-report.js';
import { parseSessionRecord } from '../../src/core/read-record.js';
import { sessionRecord } from '../../src/core/report/records.js';
import type { Session } from '../../src/core/session.js';
import { agents } from '../../src/agents/index.js';
import type { OwnCompaction } from '../../src/agents/own-compaction.js';

export const names = ['claude', 'codex', 'gemini', 'qwen'] as const;
type Name = (typeof names)[number];

const files: Readonly<Record<Name, (share: number) => readonly [string, string]>> = {
  claude: (share) => ['/h/.claude/settings.json', `{"autoCompactWindow":${Math.round(share * 1_000_000)}}`],
  codex: (share) => [
    '/h/.codex/config.toml',
    `model_auto_compact_token_limit = ${Math.round(share * 300_000)}`,
  ],
  gemini: (share) => ['/h/.gemini/settings.json', `{"model":{"compressionThreshold":${share}}}`],
  qwen: (share) => ['/h/.qwen/settings.json', `{"context":{"autoCompactThreshold":${share}}}`],
};

export const ownOf = async (name: Name, share: number | undefined): Promise<OwnCompaction> => {
  const [path, text] = share === undefined ? ['', ''] : files[name](share);
  const port = {
    text: (asked: string) => Promise.resolve(asked === path ? text : undefined),
    names: () => Promise.resolve([]),
  };
  const found = await agents[name].ownCompaction?.read(port, { env: {}, home: '/h', cwd: '/p', args: [] });
  return found ?? { trigger: undefined, settings: [] };
};

/** As other programs read it. */
export const record = (state: Session) => {
  const identity = {
    id: 'a',
    version: '1',
    pid: 1,
    childPid: 2,
    runtime: state.agent,
    cwd: '/',
    startedAt: 0,
  };
  const found = parseSessionRecord(JSON.stringify(sessionRecord(identity, state, {}, 0)));
  if (!found) throw new Error('the record of a session cannot be read');
  return found;
};

export const contextOf = (state: Session): readonly string[] => {
  const { runtime: agent, reading, thresholds } = record(state);
  const report = contextReport({ runtime: agent, reading, thresholds, compactions: [], toolResults: [] });
  return contextSections(report).sections.flatMap(({ title = '', rows }) => [
    rows.length > 0 ? title : '',
    ...rows.map(({ label = '', values = [], text = '' }) => [label, ...values, text].join('  ')),
  ]);
};

/** As the overview says it. */
export const overviewOf = (session: Session) => {
  const settings = { mode: 'warn', startMs: 1, finishMs: 1, isProactive: false } as const;
  const facts = {
    session,
    compaction: startCompaction(settings),
    record: emptyHistory,
    startedAt: 0,
    now: 0,
  };
  return overviewReport(facts, 'main');
};

export const doctorOf = (name: Name, own: OwnCompaction, more: Partial<AgentFacts> = {}) => {
  const { home } = agents[name];
  if (!home) throw new Error(`nothing is known of ${name}`);
  const section = agentSection({
    agent: agents[name],
    home,
    found: { kind: 'found', file: '/bin/x', shims: [] },
    version: { kind: 'silent' },
    verified: undefined,
    sessions: { folder: '/h', state: 'readable' },
    own,
    userHome: '/h',
    retention: undefined,
    official: undefined,
    context: undefined,
    lastUse: undefined,
    windowTokens: undefined,
    choice: {},
    ...more,
  });
  return section.checks;
};

/** A row as `status: text`, with its fix after an arrow; undefined where there is none. */
export const rowIn = ({ checks }: Pick<CheckSection, 'checks'>, name: string): string | undefined => {
  const found = checks.find((each) => each.name === name);
  return found && `${found.status}: ${found.text}${found.fix === undefined ? '' : ` → ${found.fix}`}`;
};
