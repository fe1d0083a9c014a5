// The arguments with which an agent is started again: the user's options, without a prompt and without another session.
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';

const optionsOf = (name: 'claude' | 'codex' | 'gemini' | 'qwen' | 'copilot', args: readonly string[]) =>
  agents[name].restarting?.options(args);

describe('the options for another start', () => {
  it.each([
    ['claude', ['fix it'], []],
    ['claude', ['--model', 'opus', 'fix it'], ['--model', 'opus']],
    ['claude', ['--model=opus', '-r', 'an-id', '--verbose'], ['--model=opus', '--verbose']],
    ['claude', ['--resume', '--add-dir', '/a', '/b', '--continue'], ['--add-dir', '/a', '/b']],
    [
      'claude',
      ['--session-id', 'an-id', '--allowedTools', 'Bash(git *)', 'Edit'],
      ['--allowedTools', 'Bash(git *)', 'Edit'],
    ],
    ['claude', ['--resume=an-id', '--', '--model'], []],
    ['claude', ['-rX', '--ide'], ['--ide']],
    ['codex', ['-m', 'gpt-5', 'resume', 'an-id', '-c', 'a=b', 'go on'], ['-m', 'gpt-5', '-c', 'a=b']],
    ['codex', ['resume', '--last', '-i', 'a.png', 'b.png', '--full-auto'], ['--full-auto']],
    ['codex', ['fork', 'an-id', '-ca=b'], ['-ca=b']],
    ['gemini', ['-i', 'fix it', '-m', 'pro', '--resume', 'latest', '--yolo'], ['-m', 'pro', '--yolo']],
    ['qwen', ['-c', '-i', 'fix it', '--approval-mode', 'yolo'], ['--approval-mode', 'yolo']],
    [
      'copilot',
      ['-i', 'fix it', '-n', 'my name', '--allow-tool', 'write', 'shell'],
      ['--allow-tool', 'write', 'shell'],
    ],
    ['copilot', ['--resume', '--model', 'gpt-4.1', '--continue', '--yolo'], ['--model', 'gpt-4.1', '--yolo']],
    ['copilot', ['--resume=an-id', '--banner'], ['--banner']],
  ] as const)('of %s %j are %j', (name, args, options) => {
    expect(optionsOf(name, args)).toEqual(options);
  });

  it.each([
    ['claude', ['--worktree', 'fix']],
    ['claude', ['-cv']],
    ['codex', ['--remote', 'unix://x']],
    ['gemini', ['-w']],
    ['qwen', ['--worktree=x']],
    ['copilot', ['-C', '/elsewhere']],
    ['copilot', ['--connect=an-id']],
  ] as const)('cannot be known for %s %j', (name, args) => {
    expect(optionsOf(name, args)).toBeUndefined();
  });
});
