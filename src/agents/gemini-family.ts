import type { Call, Entry, PlanChange, Result } from '../core/conversation/conversation.js';
import { getList, getText, isRecord, type JsonRecord } from '../core/json.js';
import { present } from '../core/present.js';
import { type Group, groupAdjacent, planOf, planStatus, type Tools } from './entries.js';
import type { SessionFileKind } from './home.js';

// What Gemini CLI and Qwen Code, which began as a copy of it, have in common.

/** What they put into a message of the user: their context, hooks, reminders, tasks. */
export const OWN_WORDS =
  /^\s*<(?:session_context|hook_context|qwen:user-prompt-submit-context|system-reminder|task-notification)>|^This is the Qwen Code\./;

/** Where they begin with the files that a message of the user names. */
export const FILES_START = /^\s*--- Content from (?:referenced (?:files|context)|MCP resource\b.*) ---/;

export const familyTools: Tools = {
  reads: { read_file: 'file_path' },
  edits: {
    write_file: 'file_path',
    replace: 'file_path',
    edit: 'file_path',
    notebook_edit: 'notebook_path',
  },
  runs: { run_shell_command: 'command' },
  plan: (name, input) => readPlan(name, input),
  // Gemini before 0.20 and Qwen before 0.24 call the argument so
  files: (name, input) => {
    const path = name === 'read_file' ? getText(input, 'absolute_path') : undefined;
    return path ? [{ path, access: 'read' }] : [];
  },
};

const readPlan = (name: string, input: JsonRecord): PlanChange | undefined => {
  if (name === 'todo_write') return planOf(getList(input, 'todos'), 'content');
  if (name === 'write_todos') return planOf(getList(input, 'todos'), 'description');
  const text = getText(input, 'title');
  if (name === 'tracker_create_task') return { kind: 'added', item: { text: text ?? '', status: 'open' } };
  const id = getText(input, 'id');
  if (name !== 'tracker_update_task' || id === undefined) return undefined;
  const status = getText(input, 'status');
  const item = {
    ...present({ text }),
    ...(status === undefined ? {} : { status: planStatus(status) }),
  };
  return { kind: 'changed', id, item };
};

/** The text of an entry that they did not write themselves; both know a summary by its tag. */
export const writtenText = (entry: Entry): string => {
  const text = 'text' in entry ? entry.text : '';
  return entry.kind === 'summary' && !text.includes('<state_snapshot>')
    ? `<state_snapshot>\n${text}\n</state_snapshot>`
    : text;
};

/** Entries of one message. `originOf`: the agent's own message that an entry comes from; `areOne`: whether two new entries are parts of one message. */
export const groupsOf = (
  window: readonly Entry[],
  originOf: (entry: Entry) => JsonRecord | undefined,
  areOne: (first: Entry, entry: Entry) => boolean,
): readonly Group[] =>
  groupAdjacent(window, (entry, { first }) => {
    const [own, origin] = [originOf(first), originOf(entry)];
    return own || origin ? own === origin : areOne(first, entry);
  });

/** A call as a part of a message, in the form of the model's API. */
export const callPart = ({ callId: id, name, input }: Call): object => ({
  functionCall: { id, name, args: isRecord(input) ? input : {} },
});

/** The same for its result; `name` is that of the tool. */
export const resultPart = (
  { callId: id, isError, output }: Pick<Result, 'callId' | 'isError' | 'output'>,
  name: string,
): object => ({
  functionResponse: { id, name, response: isError ? { error: output } : { output } },
});

/** `<project>/chats/<name>`; subagents have a folder of their own below. */
export const chatFile = (relativePath: string, ofSession: RegExp): SessionFileKind | undefined => {
  const [, chats, name, ...deeper] = relativePath.split('/');
  const isChat = chats === 'chats' && name !== undefined && deeper.length === 0;
  return isChat && ofSession.test(name) ? 'session' : undefined;
};
