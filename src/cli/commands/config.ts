import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { allAgents } from '../../agents/index.js';
import { findNativeProblems } from '../../core/config/check.js';
import { configComment, jsonSchema } from '../../core/config/describe.js';
import { keyNames } from '../../core/config/keys.js';
import { completeConfig, newConfig, readConfigFile, writeConfig } from '../../storage/config-file.js';
import { systemReason } from '../../storage/errors.js';
import { type WholeConfiguration, readWholeConfiguration } from '../config/load.js';
import { configPath, configCommand, currentContext, type ConfigContext } from '../config/path.js';
import {
  toFinding,
  type Finding,
  brokenConfig,
  refusedConfig,
  unwritableConfig,
  configRecord,
  findingsText,
  initText,
  settingsText,
  fileFix,
} from '../config/text.js';
import { print, toAsciiIfNeeded } from '../print.js';
import type { ConfigRequest, Options } from '../request.js';
import type { Outcome } from '../session.js';
import { jsonText } from '../text.js';
import { compactingAgents } from './context.js';

/** `ctxwrap config …`. */
export const config = async (request: ConfigRequest): Promise<Outcome> => {
  const { text, code } = await answer(request);
  await print(text); // printed unchanged: values, names and commands belong to the user
  return { status: { kind: 'code', code }, notices: [] };
};

interface Answer {
  readonly text: string;
  readonly code: number;
}

const good = (text: string): Answer => ({ text, code: 0 });

const answer = async (request: ConfigRequest): Promise<Answer> => {
  const around = currentContext();
  const whole = (): WholeConfiguration => readWholeConfiguration(request.options, around);
  switch (request.action) {
    case 'path':
      return good(`${configPath(request.options, around).path}\n`);
    case 'schema':
      return good(jsonText(jsonSchema(), 2));
    case 'init':
      return good(await init(request.options, around));
    case 'show':
      return good(shown(request, whole()));
    case 'check':
      return checked(request, await withNative(whole(), around));
  }
};

const shown = ({ json, key, origin }: ConfigRequest, whole: WholeConfiguration): string => {
  const { effective } = whole.settings;
  const wanted = effective.filter((each) => key === undefined || each.key === key);
  if (json) return jsonText(configRecord(wanted, whole), 2);
  return `${settingsText(wanted, origin).join('\n')}\n`;
};

const usage = 2;

/** Adds problems with the agents' own settings. A starting session skips this and reports them once the agent's window is known. */
const withNative = async (
  whole: WholeConfiguration,
  { env, home, cwd }: ConfigContext,
): Promise<WholeConfiguration> => {
  const agents = await compactingAgents(allAgents(whole.runtimes), { env, home, cwd });
  return { ...whole, problems: [...whole.problems, ...findNativeProblems(whole.settings.effective, agents)] };
};

const checked = ({ json }: ConfigRequest, whole: WholeConfiguration): Answer => {
  const { problems } = whole;
  const code = problems.some(({ level }) => level === 'error') ? usage : 0;
  if (json) return { text: jsonText(configRecord([], whole), 2), code };
  return { text: `${findingsText(problems.map(toFinding).map(drawn)).join('\n')}\n`, code };
};

/** A finding with ctxwrap's own texts made safe for the terminal. */
const drawn = (finding: Finding): Finding => ({ ...finding, why: toAsciiIfNeeded(finding.why, process.env) });

const SCHEMA = 'config.schema.json';

/** Writes the schema beside the file only in ctxwrap's own folder; elsewhere a file of that name may belong to someone else. */
const init = async (options: Options, around: ConfigContext): Promise<string> => {
  const { path, isNamed } = configPath(options, around);
  const file = readConfigFile(path);
  if (file.kind === 'refused') throw refusedConfig(path, file.reason, fileFix(file, 'user', options));
  const blocks = keyNames.map((name) => ({ name, lines: configComment(name) }));
  const schema = isNamed ? undefined : `./${SCHEMA}`;
  const completed = file.kind === 'absent' ? newConfig(blocks, schema) : completeConfig(file, blocks, schema);
  if (!completed) throw brokenConfig(path, configCommand('config check', options));
  const before = file.kind === 'read' ? file.text : undefined;
  try {
    if (completed.text !== before) await writeConfig(path, completed.text, before);
    if (!isNamed) await writeSchema(join(dirname(path), SCHEMA));
  } catch (error) {
    throw unwritableConfig(path, systemReason(error));
  }
  return initText(path, { added: completed.added, isNew: before === undefined });
};

const writeSchema = async (path: string): Promise<void> => {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats || stats.isFile()) await writeConfig(path, jsonText(jsonSchema(), 2), undefined);
};
