// Where the agent is in its work, from the lines of its session file as they are written.
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import type { Fact } from '../../src/core/event.js';
import type { Work } from '../../src/core/conversation/work-progress.js';
import { makeWorkFollower } from '../../src/session-files/follow-work.js';
import { makeFileReader } from '../../src/session-files/session-facts.js';

/** What a session that follows the file is told last. */
const workAfter = (agent: Agent, lines: readonly unknown[]): Work | undefined => {
  const facts: Fact[] = [];
  const inbox = { add: (fact: Fact) => void facts.push(fact) };
  if (!agent.log) throw new Error('no session file');
  const [file, work] = [makeFileReader(agent.log, {}, inbox), makeWorkFollower(inbox)];
  for (const each of lines) {
    const line = JSON.stringify(each);
    work.read(line, file.read(line, 0));
  }
  const told = facts.findLast(({ type }) => type === 'work');
  if (told?.type !== 'work') return undefined;
  const { tasks: _, ...rest } = told.work;
  return rest;
};

type Status = 'pending' | 'in_progress' | 'completed';
type Piece = readonly unknown[];

describe('Claude', () => {
  let count = 0;
  const record = (type: 'user' | 'assistant', content: unknown): unknown => ({
    type,
    uuid: `u${(count += 1)}`,
    message: { role: type, content },
  });
  const use = (name: string, input: unknown, output = 'ok', isError = false): Piece => {
    const id = `call-${(count += 1)}`;
    return [
      record('assistant', [{ type: 'tool_use', id, name, input }]),
      record('user', [{ type: 'tool_result', tool_use_id: id, content: output, is_error: isError }]),
    ];
  };
  const run = (command: string, output = 'ok', isError = false): Piece =>
    use('Bash', { command }, output, isError);
  const todos = (...status: readonly Status[]): Piece =>
    use('TodoWrite', { todos: status.map((each, place) => ({ content: `step ${place}`, status: each })) });
  const edit = use('Edit', { file_path: '/a.ts', old_string: 'a', new_string: 'b' });
  const begun = todos('completed', 'in_progress', 'pending');
  const onPlan = [...todos('in_progress', 'pending', 'pending'), ...begun, ...edit];
  const told = (...pieces: readonly Piece[]): Work | undefined => workAfter(agents.claude, pieces.flat());
  const plan = { done: 1, total: 3 };

  it('a plan counts once an item of it is done in this window and another one is active', () => {
    expect(told(todos('in_progress', 'pending'))).toEqual({});
    expect(told(begun)).toEqual({}); // what was done before it was written is not known
    expect(told(onPlan)).toEqual({ plan });
    expect(told(onPlan, todos('completed', 'pending', 'pending'))).toEqual({});
    const boundary = { type: 'system', subtype: 'compact_boundary', uuid: 'b', compactMetadata: {} };
    expect(told(onPlan, [boundary])).toEqual({});
  });

  it('tasks by their numbers are the same, those that were deleted left out', () => {
    const task = (id: number): Piece =>
      use('TaskCreate', { subject: `task ${id}` }, `Task #${id} created successfully: task ${id}`);
    const now = (taskId: string, status: string): Piece => use('TaskUpdate', { taskId, status });
    const made = [...task(1), ...task(2), ...task(3), ...now('1', 'in_progress')];
    expect(told(made, now('1', 'completed'), now('2', 'in_progress'), now('3', 'deleted'))).toEqual({
      plan: { done: 1, total: 2 },
      ended: 'item',
    });
  });

  it('a piece of the work ends with an item that is done, or with all of the plan', () => {
    expect(told(onPlan, todos('completed', 'completed', 'in_progress'))).toEqual({
      plan: { done: 2, total: 3 },
      ended: 'item',
    });
    expect(told(onPlan, todos('completed', 'completed', 'completed'))).toEqual({ ended: 'plan' });
  });

  it.each<readonly [string, Piece]>([
    ['commit', run('git add -A && git commit -m "one; two"', '[main 1a2b3c4] one; two\n 1 file changed')],
    ['commit', run('git commit -qm one', '')],
    ['commit', run('git -C /a commit -m one | tail -1', '[main 1a2b3c4] one\n')],
    ['tests', run('cd /a && npm test', '3 passed')],
  ])('a piece of the work ends: %s', (ended, piece) => expect(told(onPlan, piece)).toEqual({ plan, ended }));

  it.each<readonly [string, Piece]>([
    ['a commit that failed', run('git commit -m one', 'Exit code 1\nnothing to commit', true)],
    ['a commit whose status a pipe hides', run('git commit -m one | tail -1', 'nothing to commit')],
    ['a commit that was refused', run('git commit -m one', 'The user does not want to proceed', true)],
    ['words about a commit', run('echo "git commit"', 'git commit')],
    ['a trial of a commit', run('git commit --dry-run', 'on branch main')],
    ['tests that failed', run('npm test', 'Exit code 1\n1 failed', true)],
    ['tests behind a pipe', run('npm test 2>&1 | tail -3', '3 passed')],
    ['tests that are not the last of the line', run('npm test; echo done', 'done')],
    ['tests that run on', run('npm test', 'Command running in background with ID: b1')],
    ['tests that run on by the shell', run('npm test &', '')],
  ])('none ends with %s', (_, piece) => expect(told(onPlan, piece)).toEqual({ plan }));

  it.each<readonly [string, Piece]>([
    ['a file was changed', edit],
    ['the user has said something', [record('user', 'and now the rest')]],
    ['tests have failed', run('npm test', 'Exit code 1\n1 failed', true)],
  ])('an end is over once %s', (_, piece) =>
    expect(told(onPlan, run('git commit -m one', '[main 1a2b3c4] one'), piece)).toEqual({ plan }),
  );

  it('an end stays after a look at files', () => {
    expect(told(onPlan, run('git commit -qm one', ''), run('git status'))).toEqual({ plan, ended: 'commit' });
  });
});

describe('Kimi', () => {
  let count = 0;
  const use = (name: string, args: unknown, output: string): Piece => {
    const toolCallId = `call-${(count += 1)}`;
    const event = (each: unknown): unknown => ({ type: 'context.append_loop_event', event: each });
    return [
      event({ type: 'tool.call', toolCallId, name, args }),
      event({ type: 'tool.result', toolCallId, result: { output } }),
    ];
  };
  const todos = (...status: readonly string[]): Piece =>
    use('TodoList', { todos: status.map((each, place) => ({ title: `step ${place}`, status: each })) }, 'ok');

  it('its plan and its commits are read', () => {
    const onPlan = [...todos('in_progress', 'pending'), ...todos('done', 'in_progress')];
    const plan = { done: 1, total: 2 };
    expect(workAfter(agents.kimi, onPlan)).toEqual({ plan, ended: 'item' });
    const commit = use('Bash', { command: 'git commit -m one' }, '[main 1a2b3c4] one');
    expect(workAfter(agents.kimi, [...onPlan, ...commit])).toEqual({ plan, ended: 'commit' });
  });
});

describe('Codex', () => {
  let count = 0;
  const use = (name: string, input: unknown, output = 'Plan updated'): Piece => {
    const call_id = `call-${(count += 1)}`;
    const item = (payload: unknown): unknown => ({ type: 'response_item', payload });
    return [
      item({ type: 'function_call', name, arguments: JSON.stringify(input), call_id }),
      item({ type: 'function_call_output', call_id, output }),
    ];
  };
  const steps = (...status: readonly Status[]): Piece =>
    use('update_plan', { plan: status.map((each, place) => ({ step: `step ${place}`, status: each })) });
  const told = (...pieces: readonly Piece[]): Work | undefined => workAfter(agents.codex, pieces.flat());
  const onPlan = [...steps('in_progress', 'pending'), ...steps('completed', 'in_progress')];
  const said = {
    type: 'response_item',
    payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go on' }] },
  };

  it('its plan and its commits are read, and no other calls', () => {
    expect(told(onPlan, [said])).toEqual({ plan: { done: 1, total: 2 } });
    const run = (cmd: string): Piece =>
      use('exec_command', { cmd }, 'Process exited with code 0\nOutput:\n[main 1a2b3c4] one\n');
    expect(told(onPlan, [said], run('git commit -m one'))).toEqual({
      plan: { done: 1, total: 2 },
      ended: 'commit',
    });
    expect(told(onPlan, [said], run('ls'))).toEqual({ plan: { done: 1, total: 2 } });
  });
});
