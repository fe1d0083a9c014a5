import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { BUSY, boundaries, conversation, drawn, seenOf, watch } from '../support/claude-frame.js';
import { playScreens } from '../support/screen-play.js';

describe('a compaction on the screen of claude', () => {
  const during = seenOf(
    drawn({ above: [...conversation, '❯ /compact', '', '✢ Compacting conversation…', ''] }),
    BUSY,
  );
  const after = (...above: readonly string[]) => seenOf(drawn({ above: [...above, ''] }));
  const done = ['❯ /compact', '  ⎿  Compacted (ctrl+o to see full summary)'];
  const mark = '✻ Conversation compacted (ctrl+o for history)';

  it('is a boundary once when it ends with its own words under the command', () => {
    const end = after(mark, '', '● second', '', ...done);
    expect(boundaries(watch([during, during, end, end]))).toEqual(['user']);
  });

  const busy = (above: readonly string[], prompt = ['❯ Press up to edit queued messages']) =>
    seenOf(drawn({ above: [...above, ''], prompt }), BUSY);
  const spinner = ['', '✢ Whisking…', ''];

  it('is a boundary whatever is typed meanwhile', () => {
    const typed = busy([...conversation, '❯ /compact', '', '✢ Compacting conversation…'], ['❯ and then']);
    expect(boundaries(watch([typed, after(...conversation, ...done)]))).toEqual(['user']);
  });

  it.each([['go on'], ['/compact']])('is a boundary when "%s" waited for its end and follows it', (next) => {
    const waits = busy([...conversation, '❯ /compact', '', '✢ Compacting conversation…', '', `  ❯ ${next}`]);
    const end = busy([...conversation, ...done, '', `❯ ${next}`, ...spinner]);
    expect(boundaries(watch([waits, end, end]))).toEqual(['user']);
  });

  describe('while messages wait above its row, each with a mark, as since 2.1.330', () => {
    const mark = '  ⎿  Queued · ctrl+x ctrl+s to send now';
    const compacts = ['', '', '✢ Compacting conversation…'];
    const one = ['❯ go on', mark];
    const long = ['❯ a long message that is', '  cut into two rows', mark];

    it.each([
      ['one', one, ['❯ go on']],
      ['one of two rows', long, ['❯ a long message that is', '  cut into two rows']],
      ['two', [...one, '', ...long], ['❯ go on', '', '❯ a long message that is', '  cut into two rows']],
      ['another command', ['❯ /compact', mark], ['❯ /compact']],
    ])('is a boundary of the user: %s', (_, waits, sent) => {
      const before = busy([...conversation, '❯ /compact', '', ...waits, ...compacts]);
      const end = busy([...conversation, ...done, '', ...sent, ...spinner]);
      expect(boundaries(watch([before, end, end]))).toEqual(['user']);
    });

    it('is none when it is stopped, and what waited is sent', () => {
      const before = busy([...conversation, '❯ /compact', '', ...one, ...compacts]);
      const end = busy([...conversation, '❯ /compact', '', '❯ go on', ...spinner]);
      expect(boundaries(watch([before, end, end]))).toEqual([]);
    });

    it('is the own one of the agent when the user asked for something else', () => {
      const before = busy([...conversation, ...done, '', '❯ next', '', ...one, ...compacts]);
      const end = busy([
        '✻ Conversation compacted (ctrl+o for history)',
        '',
        '❯ next',
        '',
        '● yes',
        '',
        '❯ go on',
        ...spinner,
      ]);
      expect(boundaries(watch([before, end, end]))).toEqual(['agent']);
    });
  });

  it('is a boundary when a message waited further in, cut elsewhere than when it is sent', () => {
    const waits = busy([
      ...conversation,
      '❯ /compact',
      '',
      '✢ Compacting conversation…',
      '',
      '  ❯ a message that is',
      '    long',
    ]);
    const end = busy([...conversation, ...done, '', '❯ a message that is long', ...spinner]);
    expect(boundaries(watch([waits, end, end]))).toEqual(['user']);
  });

  it('is none when one is stopped, what waited is sent, and an earlier one stands above', () => {
    const earlier = [...done, '', '● second', ''];
    const waits = busy([
      '❯ hello',
      ...earlier,
      '❯ /compact',
      '',
      '✢ Compacting conversation…',
      '',
      '  ❯ go on',
    ]);
    expect(boundaries(watch([waits, busy([...earlier, '❯ go on', ...spinner])]))).toEqual([]);
  });

  it('is the own one of the agent when only the mark of a compaction is new', () => {
    const end = after(mark, '', '● second', '', '❯ go on', '', '● and on');
    const own = seenOf(
      drawn({ above: [...conversation, '❯ go on', '', '✢ Compacting conversation…', ''] }),
      BUSY,
    );
    expect(boundaries(watch([own, end, end]))).toEqual(['agent']);
    const again = seenOf(
      drawn({ above: [mark, '', '● second', '', '❯ go on', '', '✢ Compacting conversation…', ''] }),
      BUSY,
    );
    const newer = after(mark, '', '● third', '', '❯ go on', '', '● and on');
    expect(boundaries(watch([again, newer]))).toEqual(['agent']);
    expect(boundaries(watch([again, end]))).toEqual([]);
    expect(boundaries(watch([again, after(mark, '', '● second', '', '❯ go on', '')]))).toEqual([]);
  });

  it('is none when a stopped one brings an older mark into view again', () => {
    const scrolled = seenOf(
      drawn({ above: ['● third', '', '❯ go on', '', '✢ Compacting conversation…', ''] }),
      BUSY,
    );
    expect(boundaries(watch([scrolled, after(mark, '', '● second', '', '● third', '', '❯ go on')]))).toEqual(
      [],
    );
    const asked = after(mark, '', '● second', '', ...done);
    const second = seenOf(
      drawn({
        above: [mark, '', '● second', '', ...done, '', '❯ /compact', '', '✢ Compacting conversation…', ''],
      }),
      BUSY,
    );
    expect(boundaries(watch([second, asked]))).toEqual([]);
  });

  it.each([
    ['fails', after('❯ /compact', '  ⎿  Error during compaction: API Error: 500')],
    ['is too long', after('❯ /compact', '  ⎿  Compaction failed · conversation could not be reduced')],
    ['is stopped', seenOf(drawn({ prompt: ['❯ /compact  <optional custom summarization instructions>'] }))],
    ['is stopped after an earlier one', seenOf(drawn({ above: [...done, ''], prompt: ['❯ /compact '] }))],
    ['ends otherwise', after('❯ hello', '', `● ${done.join(' ')}`)],
  ])('is none when it %s', (_, end) => {
    expect(boundaries(watch([during, end, after(...done)]))).toEqual([]);
  });

  it('is none when it was not seen going on', () => {
    expect(boundaries(watch([after('● second'), after(mark, '', '● second', '', ...done)]))).toEqual([]);
  });

  it.each([
    { cast: 'compact-ok', expected: ['user'] },
    { cast: 'auto-compact-s46', expected: ['agent'] },
    { cast: 'old-2.0.70', expected: ['user'] },
    { cast: 'compact-esc', expected: [] },
    { cast: 'compact-fail500', expected: [] },
    { cast: 'ghost', expected: [] },
  ])('in the recording $cast gives $expected', async ({ cast, expected }) => {
    const looks = await playScreens(`claude/${cast}`, agents.claude);
    expect(looks.some(({ activity }) => activity.activity === 'compacting')).toBe(true);
    const found = looks.flatMap(({ facts }) =>
      facts.flatMap((fact) => (fact.type === 'boundary' ? [fact.boundary] : [])),
    );
    expect(found.map(({ initiator }) => initiator)).toEqual(expected);
    expect(found.every(({ source }) => source === 'screen')).toBe(true);
  });
});
