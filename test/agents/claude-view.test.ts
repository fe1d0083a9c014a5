// What Claude has in view: its own conversation, the list of agents, or a session of the background.
import { describe, expect, it } from 'vitest';
import type { ScreenEvidence, ScreenResult } from '../../src/agents/agent.js';
import { drawn, HINTS, seenOf, watch, type Frame } from '../support/claude-frame.js';

const BAR = '─'.repeat(100);
const list = (
  title = '1 awaiting input · claude agents',
  keys = '  enter to return · space to reply',
): ScreenEvidence =>
  seenOf(drawn({ above: ['❯ ✻ my number 2   heard 2 of you', ''], footer: [keys] }), title);
const conversation = (title: string, frame: Frame = {}): ScreenEvidence =>
  seenOf(drawn({ above: ['❯ my number 1', '', '● heard 1 of you', ''], ...frame }), title);
const views = (steps: readonly ScreenResult[]) =>
  steps.map(({ facts }) => facts.filter(({ type }) => type === 'view'));

describe('what claude has in view', () => {
  it('is its own conversation from the start, whatever the messages say', () => {
    expect(
      views(watch([conversation('✳ x'), conversation('✳ y', { above: ['❯ claude agents', ''] })])),
    ).toEqual([[], []]);
  });

  it('is the list when its title or its keys say so, told once; a draft there starts another session', () => {
    const steps = watch([
      conversation('✳ x'),
      list(),
      list('2 working · claude agents'),
      list('', '  enter to create'),
    ]);
    const told = { type: 'view', view: { shows: 'list', name: 'the list of agents' } };
    expect(views(steps)).toEqual([[], [told], [], []]);
    expect(steps.slice(1).every(({ activity }) => activity.activity === 'unknown')).toBe(true);
  });

  it('is perhaps another conversation behind the list, with the names and the messages on the screen', () => {
    const named = `${BAR.slice(0, 85)} a short talk ─`;
    const { rows } = drawn({ above: ['❯ my number 1', '', '● heard 1 of you', ''] });
    const withName = { ...drawn(), rows: rows.map((row, at) => (at === rows.indexOf(BAR) ? named : row)) };
    const [, , other, same] = views(
      watch([
        conversation('✳ x'),
        list(),
        conversation('✳ my number 2'),
        seenOf({ ...withName, cursor: [5, 2] }, '✳ Claude Code'),
      ]),
    );
    const view = { shows: 'conversation', names: ['my number 2'], messages: ['my number 1'] };
    expect(other).toEqual([{ type: 'view', view }]);
    expect(same).toEqual([
      { type: 'view', view: { ...view, names: ['my number 2', 'a short talk'] }, isSame: true },
    ]);
  });

  it('is a conversation that bears the name of the list, too', () => {
    const steps = watch([conversation('✳ x'), conversation('✳ claude agents', { footer: [HINTS] })]);
    expect(steps.map(({ activity }) => activity.activity)).toEqual(['ready', 'ready']);
    expect(views(steps)[1]).not.toMatchObject([{ view: { shows: 'list' } }]);
  });

  it('has the name that the title says while the list still stands', () => {
    const opening = list('✳ my number 2', '  enter to open');
    const [, , , other] = views(watch([conversation('✳ x'), list(), opening, conversation('✳ Claude Code')]));
    expect(other).toMatchObject([{ view: { shows: 'conversation', names: ['my number 2'] } }]);
  });

  it('is another one also where the list was too short on the screen to be seen there', () => {
    const quick = conversation('✳ next');
    const titlesBefore = ['✳ x', 'claude agents'];
    const steps = watch([conversation('✳ x'), { ...quick, signals: { ...quick.signals, titlesBefore } }]);
    expect(views(steps)[1]).toMatchObject([{ view: { shows: 'conversation', names: ['next'] } }]);
  });

  it('gives no number while the list is there, though its row of keys holds one', () => {
    const [, shown] = watch([
      conversation('✳ x'),
      list('1 working · claude agents', `${' '.repeat(76)}11% until auto-compact`),
    ]);
    expect(shown?.facts.filter(({ type }) => type === 'reading')).toEqual([]);
  });

  it('leaves commands out of the messages, which the session file holds otherwise', () => {
    const steps = watch([
      list(),
      conversation('✳ n', { above: ['❯ /model opus', '❯ hello', '❯ ! ls', ''], footer: [HINTS] }),
    ]);
    expect(views(steps)[1]).toMatchObject([{ view: { messages: ['hello'] } }]);
  });
});
