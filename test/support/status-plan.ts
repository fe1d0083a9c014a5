// The status line that Claude would get in a launch with these settings files.
import { parseRecord, getRecord } from '../../src/core/json.js';
import { planStatusLine } from '../../src/agents/claude/status-line.js';
import type { OfficialLaunch, SettingsPort } from '../../src/agents/agent.js';

export const files = {
  settings: '/state/1-a.settings.json',
  report: '/state/1-a.report.json',
  context: '/state/1-a.context.json',
};
export const launch = {
  args: [],
  cwd: '/proj',
  home: '/home/u',
  env: {},
  statusLine: 'auto',
  isWindowSet: true,
  isOwnProgram: true,
  version: '2.1.330',
  files,
} as const;

export type Texts = Readonly<Record<string, unknown>>;

export const portOf = (texts: Texts): SettingsPort => ({
  text: async (path) => {
    const value = texts[path];
    return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
  },
  names: async (folder) =>
    Object.keys(texts)
      .filter((path) => path.startsWith(`${folder}/`))
      .map((path) => path.slice(folder.length + 1)),
});

const planWith = (texts: Texts, given: Partial<OfficialLaunch> = {}) =>
  planStatusLine(portOf(texts), { ...launch, ...given });

export const user = '/home/u/.claude/settings.json';
export const project = '/proj/.claude/settings.json';
export const local = '/proj/.claude/settings.local.json';

export const KNOWN = 'the size of the window is known without it, and you have no status line';

/** The arguments for Claude, and its status line with the user's own command in place of the wrapper's. */
export const asked = async (texts: Texts, given: Partial<OfficialLaunch> = {}) => {
  const plan = await planWith(texts, given);
  if (plan.kind === 'leave') return { left: plan.reason };
  const settings = parseRecord(plan.settings) ?? {};
  const { command, ...rest } = getRecord(settings, 'statusLine') ?? {};
  const own = String(command).split('\n').slice(1).join('\n');
  return { args: plan.args, own, rest, settings };
};
