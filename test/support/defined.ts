import { readFileSync } from 'node:fs';
import { defineAgent } from '../../src/agents/defined/agent.js';
import { makeTimeLimit } from '../../src/cli/time-limit.js';
import type { Agent } from '../../src/agents/agent.js';

const file = new URL('../fixtures/programs/toy-agent.json', import.meta.url);

/** The definition of test/fixtures/programs/toy-agent.js, as its user would write it. */
export const toy = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;

/** The smallest valid definition. */
export const least = { name: 'toy', command: 'toy-agent' };

export const define = (value: unknown): Agent => {
  const defined = defineAgent(value, makeTimeLimit());
  if ('problems' in defined) throw new Error(JSON.stringify(defined.problems, undefined, 2));
  return defined.agent;
};
