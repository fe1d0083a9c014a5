import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { allAgents } from '../../agents/index.js';
import { findNativeProblems } from '../../core/config/check.js';
import { configComment, jsonSchema } from '../../core/config/describe.js';
import { type KeyName, keyNames } from '../../core/config/keys.js';
import type { Problem } from '../../core/config/problem.js';
import { changedKeys, configurationLine, type ConfigurationChange } from '../../core/compaction/protocol.js';
import { UserError } from '../../core/errors.js';
import { quoteForCopying } from '../../core/text.js';
import {
  backupOf,
  changeConfig,
  changeKey,
  completeConfig,
  keepBackup,
  newConfig,
  type ConfigChange,
} from '../../storage/config-edit.js';
import {
  readUserConfig,
  type ConfigFile,
  type RefusedFile,
  type SyntaxFault,
} from '../../storage/config-file.js';
import { systemReason } from '../../storage/errors.js';
import { appendToAudit } from '../../storage/log-file.js';
import { homeFolder, stateFolder, writeAtomic } from '../../storage/state-folder.js';
import { type WholeConfiguration, readWholeConfiguration } from '../config/load.js';
import { configPath, configCommand, currentContext, type ConfigContext } from '../config/path.js';
import {
  brokenConfig,
  changedText,
  checkKeys,
  checkStrategy,
  doubtsAbout,
  editedText,
  failedEditor,
  parseSetting,
  refusedConfig,
  unchangeableConfig,
  unwritableConfig,
  configRecord,
  problemsText,
  initText,
  settingsText,
  fileFix,
} from '../config/text.js';
import { print, toAsciiIfNeeded } from '../print.js';
import type {
  ConfigCheckRequest,
  ConfigSetRequest,
  ConfigShowRequest,
  ConfigUnsetRequest,
} from '../define/config.js';
import type { Options } from '../request.js';
import type { Outcome } from '../session.js';
import { jsonText, toPrintableText, type Printable, toPrintableLines } from '../../core/printable.js';
import { compactingAgents } from './context.js';
import { folderText } from '../ps-columns.js';

// `ctxwrap config …`. It prints no other symbols in place of its own: values, names and commands belong to the user.

const whole = (options: Options): Promise<WholeConfiguration> =>
  readWholeConfiguration(options, currentContext());

export const showPath = async (options: Options): Promise<Printable> =>
  toPrintableLines([configPath(options, currentContext()).path]);

export const showSchema = async (): Promise<Printable> => jsonText(jsonSchema(), 2);

export const show = async ({ json, key, origin, options }: ConfigShowRequest): Promise<Printable> => {
  const found = await whole(options);
  const wanted = found.settings.effective.filter((each) => key === undefined || each.key === key);
  if (json) return jsonText(configRecord(wanted, found), 2);
  return toPrintableLines(settingsText(wanted, found.settings, origin));
};

const printed = async (text: Printable, code: number, notices: readonly string[] = []): Promise<Outcome> => {
  await print(text);
  return { status: { kind: 'code', code }, notices };
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

export const check = async ({ json, options }: ConfigCheckRequest): Promise<Outcome> => {
  const found = await withNative(await whole(options), currentContext());
  const { problems } = found;
  const code = problems.some(({ level }) => level === 'error') ? usage : 0;
  const lines = (): Printable => toPrintableLines(problemsText(problems.map(drawn)));
  return printed(json ? jsonText(configRecord([], found), 2) : lines(), code);
};

/** A problem with ctxwrap's own texts made safe for the terminal. */
const drawn = (problem: Problem): Problem => ({ ...problem, why: toAsciiIfNeeded(problem.why, process.env) });

const SCHEMA = 'config.schema.json';

const blocks = keyNames.map((name) => ({ name, lines: configComment(name) }));

/** The name for editors of the schema beside the file, which is only in ctxwrap's own folder: elsewhere such a file may be someone else's. */
const schemaName = (isNamed: boolean): string | undefined => (isNamed ? undefined : `./${SCHEMA}`);

export const init = async (options: Options): Promise<Printable> => {
  const { path, isNamed } = configPath(options, currentContext());
  const schema = schemaName(isNamed);
  let result = { added: [] as readonly string[], isNew: false };
  await write(path, (found) => {
    const file = usable(found, options);
    const completed =
      file.kind === 'absent' ? newConfig(blocks, schema) : completeConfig(file, blocks, schema);
    if (!completed) throw brokenConfig(path, configCommand('config check', options));
    result = { added: completed.added, isNew: file.kind === 'absent' };
    return file.kind === 'read' && completed.text === file.text ? undefined : completed.text;
  });
  if (!isNamed) await writeSchema(path);
  await noteChange({ by: 'config init', keys: result.added });
  return toPrintableText(initText(path, result));
};

/** The file, unless it is refused. */
export const usable = (file: ConfigFile, options: Options): Exclude<ConfigFile, RefusedFile> => {
  if (file.kind === 'refused') throw refused(file, options);
  return file;
};

const refused = (file: RefusedFile, options: Options): UserError =>
  refusedConfig(file.path, file.reason, fileFix(file, 'user', options));

const writeSchema = async (path: string): Promise<void> => {
  const schema = join(dirname(path), SCHEMA);
  const stats = await lstat(schema).catch(() => undefined);
  if (!stats || stats.isFile())
    await writeAtomic(schema, jsonText(jsonSchema(), 2), { mode: stats?.mode }).catch(unwritable(path));
};

/** Changes the user's file; rejects with a UserError. */
export const write = (path: string, make: ConfigChange): Promise<void> =>
  changeConfig(path, make).catch(unwritable(path));

const unwritable =
  (path: string) =>
  (error: unknown): never => {
    throw error instanceof UserError ? error : unwritableConfig(path, systemReason(error));
  };

export const set = async ({ key, value, options }: ConfigSetRequest): Promise<Outcome> => {
  const after = parseSetting(key, value, { cwd: currentContext().cwd, options });
  if (key === 'strategy') checkStrategy(after, await whole(options), options);
  if (key === 'hotkey' || key === 'notNow') checkKeys(key, after, await whole(options), options);
  const text = await change(key, after, options);
  return printed(text, 0, doubtsAbout(key, await whole(options)));
};

export const unset = ({ key, options }: ConfigUnsetRequest): Promise<Printable> =>
  change(key, undefined, options);

/** Without a value the key is removed. */
const change = async (key: KeyName, after: unknown, options: Options): Promise<Printable> => {
  const around = currentContext();
  const { path } = configPath(options, around);
  const by = after === undefined ? 'config unset' : 'config set';
  const before = await changeKey(path, [key, after], {
    refused: (file) => refused(file, options),
    invalid: (faults) => unchangeableConfig(path, faultText(faults), options),
  }).catch(unwritable(path));
  await noteChange({ by, keys: changedKeys({ [key]: before }, { [key]: after }) });
  const text = changedText(key, [before, after], folderText(path, around.home));
  return toPrintableLines(text.trimEnd().split('\n'));
};

/** Where the first mistake is, in parentheses. */
export const faultText = ([first]: readonly SyntaxFault[]): string =>
  first === undefined ? '' : ` (line ${first.at.line}, column ${first.at.column}: ${first.reason})`;

/** `config edit`: the user's editor on the file, then a look at what it has become. */
export const edit = async (options: Options): Promise<Outcome> => {
  const around = currentContext();
  const { path } = configPath(options, around);
  const isNew = usable(readUserConfig(path), options).kind === 'absent';
  if (isNew) await init(options);
  const file = usable(readUserConfig(path), options);
  const { text: before, target } = file.kind === 'read' ? file : { text: '', target: path };
  const editor = [around.env['VISUAL'], around.env['EDITOR']].find((each) => each?.trim()) ?? 'vi';
  const failure = await runEditor(editor, target);
  const now = readUserConfig(path);
  const isChanged = now.kind !== 'read' || now.text !== before;
  if (isChanged) await keepBackup(path, before, await modeOf(target)).catch(unwritable(path));
  await noteChange({ by: 'config edit', keys: changedKeys(entriesOf(file), entriesOf(now)) });
  if (failure !== undefined) throw failedEditor(editor, failure);
  const back = isChanged ? `mv ${quoteForCopying(backupOf(path))} ${quoteForCopying(target)}` : undefined;
  const { problems } = await readWholeConfiguration(options, around);
  const places: readonly unknown[] = [path, target];
  const own = problems.filter(({ origin }) => origin.layer === 'user' && places.includes(origin.place));
  const isWrong = now.kind === 'absent' || own.some(({ level }) => level === 'error');
  const place = folderText(path, around.home);
  const text =
    now.kind === 'absent' ? `${place} no longer exists` : editedText(place, own, isChanged || isNew);
  const lines = [...text.split('\n'), ...(isWrong && back ? [`to go back: ${back}`] : [])];
  return printed(toPrintableLines(lines), isWrong ? 1 : 0);
};

const entriesOf = (file: ConfigFile): Readonly<Record<string, unknown>> =>
  Object.fromEntries(file.kind === 'read' ? file.entries.map(({ key, value }) => [key, value]) : []);

/** Leaves a line in the audit log, if any key has changed. The change holds also where that cannot be written. */
const noteChange = async (change: ConfigurationChange): Promise<void> => {
  if (change.keys.length === 0) return;
  const { env } = process;
  await appendToAudit(stateFolder(env, homeFolder(env)), configurationLine(change, Date.now()));
};

const modeOf = async (path: string): Promise<number | undefined> =>
  (await lstat(path).catch(() => undefined))?.mode;

/** Resolves when the editor has ended, with how it failed. The variable may hold arguments, and is read by a shell, as git does. */
const runEditor = async (editor: string, path: string): Promise<string | undefined> => {
  const leave = (): void => undefined;
  for (const signal of keySignals) process.on(signal, leave); // they are for the editor
  try {
    const script = `trap : INT QUIT; ${editor} "$@"`; // the shell stays, and the editor has its own signals
    const child = spawn('/bin/sh', ['-c', script, editor, path], { stdio: 'inherit' });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (signal !== null) return `was ended by ${signal}`;
    return code === 0 ? undefined : (editorFailures.get(code) ?? `ended with status ${code}`);
  } catch (error) {
    return `cannot be started: ${systemReason(error)}`;
  } finally {
    for (const signal of keySignals) process.off(signal, leave);
  }
};

const keySignals = ['SIGINT', 'SIGQUIT'] as const;

/** What a shell says with its exit status. */
const editorFailures: ReadonlyMap<number | null, string> = new Map([
  [126, 'cannot be run'],
  [127, 'was not found'],
]);
