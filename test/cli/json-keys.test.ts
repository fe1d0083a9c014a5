// The style of all keys that a command prints as JSON, as docs/internals/commands.md says.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/core/json.js';
import { ids, writeStores } from '../support/stored-sessions.js';
import { publishSession } from '../support/published.js';
import { ctxwrap, makeBench, type Bench } from './launcher.js';

let bench: Bench;
beforeAll(async () => {
  bench = makeBench();
  writeStores(bench.folder);
  await publishSession(`${bench.folder}/.local/state/ctxwrap`, {
    agentSessionId: ids.qwen,
    cwd: '/',
    startedAt: Date.now() - 9,
    activitySince: Date.now(),
    compactions: 2,
    cumulativeChars: 7,
    compaction: { mode: 'auto', compactSuccessful: true },
  });
});
afterAll(() => bench.remove());

/** Records of compactions: other tools read them, too. */
const RECORDS = /^ctxwrap\.(?:history|boundary|receipt)\/1$/;
const styles = { snake: /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/, camel: /^[a-z][a-zA-Z0-9]*$/ };

/** The keys that are not in the style of their object. */
const wrongKeys = (value: unknown, style: keyof typeof styles = 'camel'): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap((each) => wrongKeys(each, style));
  if (!isRecord(value)) return [];
  const { schema } = value;
  const own = typeof schema === 'string' ? (RECORDS.test(schema) ? 'snake' : 'camel') : style;
  return Object.entries(value).flatMap(([key, each]) => [
    ...(styles[own].test(key) ? [] : [key]),
    ...wrongKeys(each, own),
  ]);
};

const commands: Readonly<Record<string, readonly string[]>> = {
  ps: ['--all'],
  context: [ids.claude],
  compact: ['--all', '--no-wait'],
  handoff: [ids.claude],
  history: ['--full'],
  recall: [`${ids.claude}#1`],
  undo: [`${ids.claude}#1`],
  checkpoint: ['list'],
  doctor: [],
  'config show': ['--origin'],
  'config check': [],
  replay: [
    fileURLToPath(new URL('../../test/fixtures/casts/claude/agents-view-no-title.cast.gz', import.meta.url)),
  ],
  agents: ['list'],
};
/** They run an installed agent. */
const untried = ['verify'];

describe('the keys of JSON', () => {
  it.each(Object.entries(commands))(
    'of %s are snake_case in records of compactions, else camelCase',
    async (name, args) => {
      const { stdout } = await ctxwrap([...name.split(' '), ...args, '--json'], bench);
      const printed: unknown = JSON.parse(stdout);
      expect(printed).toMatchObject({ schema: expect.stringMatching(/^ctxwrap\./) as unknown });
      expect(wrongKeys(printed)).toEqual([]);
    },
  );

  it('are checked of every command that prints JSON', () => {
    const page = readFileSync(new URL('../../docs/internals/commands.md', import.meta.url), 'utf8');
    const rows = page.split('\n').filter((row) => /^ctxwrap [a-z].*--json/.test(row));
    const known = [...Object.keys(commands), ...untried];
    expect(rows.length).toBeGreaterThan(9);
    const unknown = rows.filter((row) => !known.some((name) => row.startsWith(`ctxwrap ${name}`)));
    expect(unknown).toEqual([]);
  });
});
