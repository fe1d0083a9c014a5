import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { briefText } from '../../src/core/conversation/brief.js';
import { evidenceKinds } from '../../src/core/conversation/conversation-evidence.js';
import type { Receipt } from '../../src/core/conversation/receipt.js';

const receipt = (items: readonly (readonly [kind: string, text: string, isKept?: true])[]): Receipt => ({
  items: items.map(([kind, text, isKept = false]) => ({
    kind: kind as (typeof evidenceKinds)[number],
    text,
    line: 0,
    isKept,
  })),
  commandsRun: items.length,
  isUnreadable: false,
  notUnderstood: [],
});

describe('the brief', () => {
  it('lists what was lost, what the user demanded first, and nothing that was kept', () => {
    const text = briefText(
      receipt([
        ['path', 'src/a.ts'],
        ['path', 'src/b.ts', true],
        ['command', 'npm test'],
        ['constraint', 'Never push.'],
      ]),
    );
    expect(text).toBe(
      'The summary of our conversation left this out:\n\nWhat I asked for:\n- Never push.\n\nFiles you changed:\n- src/a.ts\n\nCommands you ran:\n- npm test\n\nAll of this still holds.',
    );
  });

  it('carries what was there before where nobody can read the summary, without what is still in the window', () => {
    const items = receipt([
      ['path', 'src/a.ts'],
      ['constraint', 'Never push.', true],
      ['command', 'npm test'],
    ]);
    expect(briefText({ ...items, isUnreadable: true })).toBe(
      'I cannot read the summary of our conversation. This was in it before:\n\nFiles you changed:\n- src/a.ts\n\nCommands you ran:\n- npm test\n\nAll of this still holds.',
    );
  });

  it('says which command failed', () => {
    const [item] = receipt([['command', 'npm test']]).items;
    const failed = item ? [{ ...item, hasFailed: true as const }] : [];
    expect(briefText({ ...receipt([]), items: failed })).toContain('\n- npm test (it failed)\n');
  });

  it('is none where nothing was lost', () => {
    expect(briefText(receipt([['path', 'a.ts', true]]))).toBeUndefined();
  });

  it('counts what has no room, and leaves out the oldest', () => {
    const paths = Array.from({ length: 50 }, (_, index) => ['path', `src/file-${index}.ts`] as const);
    const text = briefText(receipt(paths), { most: 400 }) ?? '';
    expect(text.length).toBeLessThanOrEqual(400);
    expect(text).toContain('- src/file-49.ts');
    expect(text).not.toContain('- src/file-0.ts');
    const shown = text.match(/^- src/gm)?.length ?? 0;
    expect(text).toContain(`- and ${50 - shown} more paths`);
  });

  it('never has more characters than it may, whatever was lost', () => {
    const item = fc.tuple(fc.constantFrom(...evidenceKinds), fc.string({ minLength: 1, maxLength: 500 }));
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 60 }), (items) => {
        const text = briefText(receipt(items)) ?? '';
        expect(text.length).toBeLessThanOrEqual(4_000);
        // what stands last could open a list of files, or escape Enter
        expect(text === '' || text.endsWith('\n\nAll of this still holds.')).toBe(true);
      }),
    );
  });
});
