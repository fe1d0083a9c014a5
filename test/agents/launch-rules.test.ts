import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';

const conversations = {
  claude: [
    '',
    'fix|the bug',
    '--model|opus',
    '-c',
    '--resume',
    '-r|doctor', // a search term of --resume, not a command
    '--append-system-prompt|update',
    'please update the docs',
    '--|-p',
    '--dangerously-skip-permissions|say -p twice',
    '-n|print',
  ],
  codex: [
    '',
    'explain|this',
    'resume|--last',
    'fork|mcp',
    '-p|work',
    '-c|model="o3"',
    '-m|exec',
    'agents',
    '-pwork',
  ],
  gemini: ['', 'hello', '-i|hello', '-m|mcp', '--resume|latest', '-y', '-s|-y', '--approval-mode|plan'],
  qwen: [
    '',
    '-i|hello',
    '-c',
    '-r|board',
    '--resume',
    '-m|x',
    '-i|x|-y',
    '--approval-mode|plan',
    '-yi|hello',
  ],
  copilot: [
    '',
    '-i|hello',
    '--resume',
    '-r|mcp',
    '--continue',
    '--model|mcp',
    '--allow-all-tools',
    '-n|login',
  ],
} as const;

const plain = {
  claude: [
    '-p|hi',
    '--print|hi',
    'hi|-p',
    '-cp|hi',
    '--print=hi',
    '--version',
    '-v',
    '--help',
    'mcp|list',
    '--debug|api|mcp|list',
    'update',
    '--model|opus|doctor',
    '--bg|do it',
  ],
  codex: [
    'exec|hi',
    'e|hi',
    '-m|gpt-5.5|exec|hi',
    'login',
    '--version',
    '-V',
    'resume|--help',
    'mcp|list',
    'a',
  ],
  gemini: [
    '-p|hi',
    '--prompt|hi',
    '--prompt=hi',
    '-yp|hi',
    '-v',
    '--list-sessions',
    'mcp|list',
    '-m|x|extensions|list',
  ],
  // A bare prompt is answered, and Qwen exits.
  qwen: [
    'hello',
    '-y|fix|it',
    '--|hello',
    '-p|hi',
    '-i|x|-p|y',
    '-v',
    '-l',
    'mcp|list',
    'sessions|list',
    'serve',
  ],
  copilot: [
    '-p|hi',
    '--prompt=hi',
    '-sp|hi',
    '-v',
    '--help',
    'login',
    'mcp|list',
    '--model|x|update',
    '--acp',
  ],
} as const;

const launched = ['claude', 'codex', 'gemini', 'qwen', 'copilot'] as const;
type Launched = (typeof launched)[number];

const cases = (lists: Readonly<Record<Launched, readonly string[]>>) =>
  launched.flatMap((name) => lists[name].map((text) => ({ name, text })));

const argsOf = (text: string): readonly string[] => (text === '' ? [] : text.split('|'));

describe('the arguments', () => {
  it.each(cases(conversations))('$name $text open a conversation', ({ name, text }) => {
    expect(agents[name].isInteractive(argsOf(text))).toBe(true);
  });

  it.each(cases(plain))('$name $text print and exit', ({ name, text }) => {
    expect(agents[name].isInteractive(argsOf(text))).toBe(false);
  });
});

describe('the table of runtimes', () => {
  it('knows each one by its own name', () => {
    expect(Object.entries(agents).map(([name, agent]) => agent.name === name)).not.toContain(false);
  });

  it('says how to install each agent that is a program', () => {
    const packages = Object.values(agents).flatMap(({ command, npmPackage }) =>
      command ? [npmPackage] : [],
    );
    expect(packages).toEqual([
      '@anthropic-ai/claude-code',
      '@openai/codex',
      '@google/gemini-cli',
      '@qwen-code/qwen-code',
      'opencode-ai',
      '@github/copilot',
      '@moonshot-ai/kimi-code',
    ]);
  });
});
