import type {
  Answered,
  Entry,
  PlanChange,
  SourceRecord,
  TouchedFile,
} from '../../core/conversation/conversation.js';
import { readGiven } from '../../core/conversation/given-block.js';
import { getList, getRecord, getText, parseRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import { planOf, textEntry, toolEntries, type ToolEvent, type Tools } from '../entries.js';
import { patchedFiles } from '../patch.js';
import { callsInScript } from './code-mode.js';

// An item of the history that the model gets (docs/facts/codex.md#rollouts, docs/facts/sessions.md#made-up-histories): a message, a call of
// a tool or its output, linked by the call id, a thought.

/** One item of the history that the model gets. */
export const itemEntries = (item: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const type = getText(item, 'type') ?? '';
  if (type === 'message') return [messageEntry(item, source)];
  if (type === 'reasoning') return [textEntry('reasoning', source, textsIn(item, 'summary'), item)];
  if (type === 'compaction' || type === 'compaction_summary')
    return [{ ...textEntry('summary', source, '', item), isEncrypted: true }];
  const events = codexToolEvents(item);
  if (events.length > 0) return events.flatMap((event) => toolEntries(event, source, tools, item));
  // searches and pictures of the model's server; the rest (snapshots of the files) never goes to the model
  return type.endsWith('_call') ? [textEntry('answer', source, '', item)] : [];
};

/** The text of a message, or its blocks of text. */
export const textsIn = (from: JsonRecord, key: string): string =>
  getText(from, key) ??
  getList(from, key)
    .map((block) => getText(block, 'text') ?? '')
    .join('\n');

// What Codex itself puts into a message of the user. Since 0.154 the record says so.
const SUMMARY = /^Another language model started to solve this problem/;
const OWN_WORDS =
  /^\s*<(?:environment_context|user_instructions|user_action|user_shell_command|turn_aborted|skill|recommended_plugins|(?:subagent|codex|hook|goal|realtime)_\w+)(?=[\s>])|^# AGENTS\.md instructions|^Warning: apply_patch was requested/;
const USERS = /^user\.(?:text|image|audio)$/; // not `user.goal` and `user.heartbeat`, by which Codex goes on by itself
// an editor puts what it shows before what the user typed
const REQUEST =
  /^# (?:Context from my IDE setup|Files mentioned by the user):[^]*?\n## My request for Codex:\s*/;

const messageEntry = (item: JsonRecord, source: SourceRecord): Entry => {
  const text = textsIn(item, 'content');
  const role = getText(item, 'role');
  if (role === 'assistant') return textEntry('answer', source, text, item);
  const kinds = getList(getRecord(item, 'internal_chat_message_metadata_passthrough'), 'content_item_kinds');
  if (role !== 'user') {
    // what was injected has no kind; what a hook has added, which can be anything, has
    const isInjected = role === 'developer' && kinds.every((kind) => kind === 'unknown');
    const given = isInjected ? readGiven(text)?.lines : undefined;
    return { ...textEntry('context', source, text, item), ...present({ given }) };
  }
  if (SUMMARY.test(text)) return textEntry('summary', source, text, item);
  const isUsers =
    kinds.length > 0
      ? kinds.some((kind) => typeof kind === 'string' && USERS.test(kind))
      : !OWN_WORDS.test(text);
  if (!isUsers) return textEntry('context', source, text, item);
  return { ...textEntry('prompt', source, text, item), text: text.replace(REQUEST, '') };
};

// Calls and their outputs.

const CALL = /^(?:function_call|custom_tool_call|local_shell_call)$/;
const OUTPUT = /_call_output$/;

/** The item is the output of a tool. */
export const isOutput = (item: JsonRecord): boolean => OUTPUT.test(getText(item, 'type') ?? '');

const codexToolEvents = (payload: JsonRecord): readonly ToolEvent[] => {
  const type = getText(payload, 'type') ?? '';
  const id = getText(payload, 'call_id') ?? '';
  const { output } = payload;
  if (isOutput(payload))
    return [{ kind: 'result', id, output, isError: hasFailed(output), answers: answersIn(output) }];
  if (!CALL.test(type)) return [];
  const given = getText(payload, 'arguments') ?? getText(payload, 'input');
  const input =
    getRecord(payload, 'action') ?? (given === undefined ? undefined : (parseRecord(given) ?? given));
  return [{ kind: 'call', id, name: getText(payload, 'name') ?? 'shell', input }];
};

/** Codex writes no mark: a script of code mode that threw, and a patch that does not fit, are recognised by their first words. */
const FAILED = /^(?:Script failed|apply_patch verification failed)\b/;

const hasFailed = (output: unknown): boolean => {
  const [first] = Array.isArray(output) ? (output as readonly unknown[]) : [];
  return FAILED.test(typeof output === 'string' ? output : (getText(first, 'text') ?? ''));
};

/** What the user has answered to `request_user_input`. */
const answersIn = (output: unknown): readonly Answered[] | undefined => {
  if (typeof output !== 'string' || !output.startsWith('{"answers"')) return undefined;
  return Object.entries(getRecord(parseRecord(output), 'answers') ?? {}).map(([id, given]) => ({
    id,
    text: getList(given, 'answers')
      .filter((each) => typeof each === 'string')
      .join(', '),
  }));
};

const CODE_MODE = 'exec';

const tools: Tools = {
  reads: { view_image: 'path', read_file: 'file_path' },
  edits: {},
  runs: { exec_command: 'cmd', shell: 'command', shell_command: 'command', local_shell: 'command' },
  plan: (name, input) => readPlan(name, input),
  files: (name, input) => filesOf(name, input),
  questions: (name, input) =>
    name === 'request_user_input'
      ? getList(input, 'questions').map((each) => ({
          id: getText(each, 'id') ?? '',
          text: getText(each, 'question') ?? '',
        }))
      : [],
  within: (name, input) =>
    name === CODE_MODE && typeof input === 'string' ? callsInScript(input) : undefined,
};

const readPlan = (name: string, input: JsonRecord): PlanChange | undefined =>
  name === 'update_plan' ? planOf(getList(input, 'plan'), 'step') : undefined;

/** The files of a patch, which is the input of `apply_patch` or part of a command. */
const filesOf = (name: string, input: unknown): readonly TouchedFile[] => {
  const command = getList(input, 'command').filter((word) => typeof word === 'string');
  const text = [typeof input === 'string' ? input : '', getText(input, 'input') ?? '']
    .concat([getText(input, 'patch') ?? '', getText(input, 'cmd') ?? '', getText(input, 'command') ?? ''])
    .concat(command)
    .join('\n');
  return name === 'apply_patch' || text.includes('*** Begin Patch') ? patchedFiles(text) : [];
};
