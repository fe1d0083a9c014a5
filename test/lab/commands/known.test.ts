// What is read of an agent's own list of commands, and what the lab says of a name in it.
import { describe, expect, it } from 'vitest';
import { agents } from '../agents/all.js';
import { scenarioNamed } from '../scenarios/all.js';
import { commands } from './all.js';
import { compared, each, listed, namesIn } from './known.js';

/** Rows of real screens: at rest, and with the list open. */
const screens: Readonly<
  Record<string, { readonly what: string; readonly rows: string; readonly names: readonly string[] }>
> = {
  claude: {
    what: 'hint line',
    rows: '  ⏸ manual mode on · ? for shortcuts · ← for agents',
    names: ['⏸ manual mode on', '? for shortcuts', '← for agents'],
  },
  codex: {
    what: 'shortcuts',
    rows: `  @        Mention files        shift+tab      Change mode                 f3                         Find text
  ^r       Search history       alt+← / alt+→  Subagents (empty prompt)`,
    names: ['Mention files', 'Change mode', 'Find text', 'Search history', 'Subagents (empty prompt)'],
  },
  gemini: {
    what: 'commands',
    rows: ` ▲
 about            Show version info
 bug-memory       Capture a V8 heap snapshot to disk to attach to a bug report
 ▼
 (1/41)`,
    names: ['about', 'bug-memory'],
  },
  qwen: {
    what: 'commands',
    rows: `  > model [--fast|--voice|--vision|--compaction|--image] [--pr…  Switch the model for this session (--fast for sugges…
    auth (connect, login)                                        Connect an LLM provider
  (1/81)`,
    names: ['model', 'auth'],
  },
  opencode: {
    what: 'palette',
    rows: `                                  New session                                 ctrl+x n
                                  Fork session`,
    names: ['New session', 'Fork session'],
  },
  copilot: {
    what: 'commands',
    rows: `┃ ❯ /diff                               Review the changes made in the current directory
┃   /context                            Show context window token usage and visualization
┃ /diff`,
    names: ['/diff', '/context'],
  },
  kimi: {
    what: 'commands',
    rows: ` │   → yolo                   Ask When Needed mode: routine edits and commands run automatically; risky actions,      │
 │                            questions, and plans still ask.                                                         │
 │     model                  Switch LLM model                                                                        │
 │     (1/51)                                                                                                         │`,
    names: ['yolo', 'model'],
  },
};

describe('the names in an agent’s own lists', () => {
  it.each(Object.entries(screens))('are read from the screen of %s', (agent, { what, rows, names }) => {
    const list = commands[agent]?.lists.find((one) => one.what === what);
    expect(list && namesIn(list, rows.split('\n'), [])).toEqual(names);
  });

  it('are not looked for in rows that were there at rest', () => {
    const list = { names: /(\/\w+)/g };
    expect(namesIn(list, ['I said /clear', '/new'], ['I said /clear'])).toEqual(['/new']);
  });

  it('are told when nothing is known of them, once each, and when they have gone', () => {
    const known = { harmless: listed('/help | /copy'), others: each('/exit', { does: 'exit', because: '' }) };
    const seen = ['/help', '/background', '/exit', '/background'];
    expect(compared(known, seen)).toEqual({ unknown: ['/background'], gone: ['/copy'] });
  });
});

describe('what the lab knows of commands', () => {
  it('covers each of its agents', () => {
    expect(Object.keys(commands).toSorted()).toEqual(agents.map(({ name }) => name).toSorted());
  });

  it.each(agents)('names each of $name once, and scenarios that it is played in', (agent) => {
    const { harmless = [], others = {} } = commands[agent.name] ?? {};
    const names = [...harmless, ...Object.keys(others)];
    expect(names.filter((name, index) => name === '' || names.indexOf(name) < index)).toEqual([]);
    const played = Object.values(others).flatMap((known) => ('scenario' in known ? known.scenario : []));
    const isPlayed = (name: string): boolean => {
      const scenario = scenarioNamed(name);
      return scenario !== undefined && (scenario.isFor?.(agent) ?? true);
    };
    expect([...new Set(played)].filter((name) => !isPlayed(name))).toEqual([]);
  });
});
