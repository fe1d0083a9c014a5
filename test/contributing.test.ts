// CONTRIBUTING.md names places; what it names is there.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
const found = (pattern: RegExp): readonly string[] =>
  [...page.matchAll(pattern)].map(([, name = '']) => name);

describe('what a contributor is told', () => {
  it('to look at is there', () => {
    const named = found(/`((?:src|test|docs)\/[\w./-]+|[A-Z]+\.md)`/g).map((path) =>
      path.replace(/VERSION\/.*/, '').replace('NAME', 'qwen'),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('to read first are seven files, and pictures that fit into 100 columns', () => {
    expect(found(/^\d\. `(src\/[\w./-]+)`/gm)).toHaveLength(7);
    const [first = '', ...pictures] = found(/^```\w*\n([^]*?)^```/gm);
    expect(first).toContain('npm install');
    expect(pictures.join('').match(/▼/g)?.length).toBeGreaterThan(5);
    const lines = pictures.flatMap((picture) => picture.split('\n')).filter((line) => /[│▼├└]/.test(line));
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
  });

  it('of the files of an agent is what the agents have', () => {
    const named = found(/^\| (`[\w-]+\.ts`.*?) \|/gm).flatMap((cell) => cell.match(/[\w-]+\.ts/g) ?? []);
    expect(named).toContain('agent.ts');
    expect(named.filter((file) => !existsSync(join(root, 'src/agents/qwen', file)))).toEqual([]);
  });
});
