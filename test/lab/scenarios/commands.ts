// The agent's own lists of commands and keys, compared with what the lab knows of them.
import { setTimeout as pause } from 'node:timers/promises';
import { assertThat } from '../../../src/verify/checks.js';
import { commands } from '../commands/all.js';
import { compared, namesIn, type NameList } from '../commands/known.js';
import { LITTLE, type LabSession, type Scenario } from './scenario.js';

const OPEN_MS = 1_500;
const ENTRY_MS = 120; // for the agent to draw the next entry
const MOST_ENTRIES = 400;
const SAME_ENTRIES = 30; // longer than a list that scrolls only at its end

const pressAll = async ({ terminal }: LabSession, keys: readonly string[]): Promise<void> => {
  for (const key of keys) {
    terminal.press(key);
    await pause(OPEN_MS);
  }
};

/** Goes through the list until it shows nothing new. */
const read = async (session: LabSession, list: NameList): Promise<readonly string[]> => {
  const { terminal, footer } = session;
  const rows = (): readonly string[] => terminal.rows().slice(0, -1);
  const atRest = rows();
  await pressAll(session, list.keys);
  const seen = new Set<string>();
  let same = 0;
  for (let entry = 0; entry < MOST_ENTRIES && same < SAME_ENTRIES; entry += 1) {
    const before = seen.size;
    for (const name of namesIn(list, rows(), atRest)) seen.add(name);
    same = seen.size > before ? 0 : same + 1;
    if (list.next === undefined) break;
    terminal.press(list.next);
    await pause(ENTRY_MS);
  }
  assertThat(seen.size > 0, `no names in its ${list.what}, beside ${footer()}`);
  await pressAll(session, list.back);
  return [...seen];
};

const named: Scenario = {
  name: 'commands',
  expects:
    'its own list of commands, shortcuts and hint line: no name of which the lab does not know what it does',
  isFor: ({ name }) => commands[name] !== undefined,
  typed: 0,
  play: async (session) => {
    const known = commands[session.agent.name];
    if (!known) throw new Error('the lab knows no commands of this agent');
    await session.turn(LITTLE);
    await pause(OPEN_MS);
    const seen: string[] = [];
    for (const list of known.lists) seen.push(...(await read(session, list)));
    const { unknown, gone } = compared(known, seen);
    assertThat(unknown.length === 0, `unknown to the lab: ${unknown.join(' | ')}`);
    return `${new Set(seen).size} names${gone.length > 0 ? `; not seen: ${gone.join(' | ')}` : ''}`;
  },
};

export const naming: readonly Scenario[] = [named];
