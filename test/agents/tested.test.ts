import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { isTested, newestTestedBefore, parseRecordVersion } from '../../src/agents/tested.js';

const [claude = ''] = agents.claude.home?.played ?? [];
const [codex = ''] = agents.codex.home?.played ?? [];

describe('the version of an agent', () => {
  it.each([
    ['{"type":"assistant","version":"2.1.330","message":{}}', '2.1.330'],
    ['{"type":"session_meta","payload":{"id":"a","cli_version":"0.169.0"}}', '0.169.0'],
    ['{"type":"user","message":{"content":"{\\"version\\":\\"9.9.9\\"}"},"version":"2.1.197"}', '2.1.197'],
    ['{"type":"user","toolUseResult":{"version":"9.9.9"}}', undefined],
    ['{"type":"user","version":"next"}', undefined],
    ['{"type":"assistant","version":"2.1.330"', undefined],
    ['', undefined],
  ])('is read from its own record: %s', (line, version) => expect(parseRecordVersion(line)).toBe(version));

  it.each([
    ['claude', claude.replace(/\d+$/, (last) => `${Number(last) + 1}`), claude],
    ['claude', '9.0.0', claude],
    ['claude', claude, undefined],
    ['claude', '2.1.99', undefined],
    ['codex', '9.0.0-alpha.1', codex],
    ['codex', '0.98.0', undefined],
    ['generic', '1.0.0', undefined],
  ] as const)('%s %s is newer than the tested %s', (name, version, tested) =>
    expect(newestTestedBefore(agents[name], version)).toBe(tested),
  );

  it('counts as tested where the lab has played it', () => {
    expect(isTested(agents.claude, '2.1.197')).toBe(true);
    expect(isTested(agents.claude, '2.1.198')).toBe(false);
  });
});
