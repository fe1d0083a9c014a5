import type { Fact } from '../../core/event.js';
import { present } from '../../core/present.js';
import type { ActivityReport, Millis, Reading, ScreenView } from '../../core/reading.js';
import { makeScreenReader, type AgentScreen, type ScreenEvidence, type ScreenReading } from '../agent.js';
import { readStatus } from './files.js';
import {
  findBox,
  findDialog,
  findFooter,
  inputText,
  isEmpty,
  lastItem,
  listedBelow,
  liveRows,
  type Box,
  type LiveRows,
  type ShownFill,
} from './layout.js';

// Kimi's screen as a source of facts (docs/facts/kimi.md): the second witness beside the session file. From a compaction to the end of the
// next turn the number in the footer is Kimi's estimate.

interface KimiScreen {
  /** a compaction is running, or the command is in the input; with the end of the conversation then */
  readonly watched?: { readonly kind: 'typed' | 'running'; readonly end: string };
  readonly estimate?: Estimate;
  /** a turn or a compaction was seen, which leaves records */
  readonly hasWorked?: true;
  /** the last number in the footer */
  readonly shown?: number | undefined;
  /** the list of sessions was in the place of the input since then */
  readonly hasChosen?: true | undefined;
}

/** The numbers in the footer since a compaction began. */
interface Estimate {
  /** while it ran */
  readonly before: number | undefined;
  /** after it; undefined before its end */
  readonly after?: number;
  readonly hasWorked: boolean;
}

/** What is on the screen around the input. */
interface InputArea {
  readonly screen: ScreenView;
  readonly box: Box;
  readonly live: LiveRows;
  readonly fill: ShownFill | undefined;
  /** the last item of the conversation */
  readonly end: readonly string[];
  readonly at: Millis;
}

export const kimiScreen: AgentScreen = {
  recognises: ({ screen }) => {
    const box = findBox(screen);
    return box !== undefined && findFooter(screen, box.bottom) !== undefined;
  },
  reader: () => makeScreenReader<KimiScreen>({}, readScreen),
  prompt: ({ screen }) => {
    const box = findBox(screen);
    if (box?.mode !== '>') return undefined;
    return { text: inputText(screen, box), ...listedBelow(screen, box) };
  },
  status: readStatus,
};

const readScreen = (state: KimiScreen, seen: ScreenEvidence, at: Millis): ScreenReading<KimiScreen> => {
  const { screen } = seen;
  const box = findBox(screen);
  if (!box) return withoutBox(state, screen, at);
  const [live, fill, end] = [liveRows(screen, box), findFooter(screen, box.bottom), lastItem(screen, box)];
  const area: InputArea = { screen, box, live, fill, end, at };
  const after: KimiScreen = {
    ...watchedAfter(state.watched, area),
    ...estimateAfter(state.estimate, area),
    ...(state.hasWorked || live.working || live.compacting ? { hasWorked: true } : {}),
    shown: fill?.usedTokens ?? state.shown,
    ...(fill || live.working ? {} : present({ hasChosen: state.hasChosen })),
  };
  const isNew = state.shown !== undefined && state.shown > 0 && after.shown === 0; // after `/new`
  const isOther = state.hasChosen === true && state.shown !== after.shown;
  const isEstimate = after.estimate !== undefined || live.working || isComplete(end);
  return {
    state: after,
    activity: activityOf(seen, area, after),
    facts: [
      ...(isOther ? [OTHER_VIEW] : isNew ? [{ type: 'voided' } as const] : []),
      ...fillFacts(fill, isEstimate, at),
      ...resultFacts(state.watched, area),
    ],
  };
};

/** The list of sessions has closed, and the size is another one. */
const OTHER_VIEW = { type: 'view', view: { shows: 'conversation', names: [], messages: [] } } as const;

const SESSIONS = /^ Sessions(?: |$)/;

const listsSessions = (screen: ScreenView, bottom: number): boolean => {
  for (let row = bottom - 1; row >= 0; row -= 1) if (SESSIONS.test(screen.text(row))) return true;
  return false;
};

/** The reading while two bars with a dialog or a picker replace the input. */
const withoutBox = (state: KimiScreen, screen: ScreenView, at: Millis): ScreenReading<KimiScreen> => {
  const bottom = findDialog(screen);
  if (bottom === undefined)
    return { state, activity: { activity: 'unknown', witnesses: ['no input'] }, facts: [] };
  const activity = { activity: 'dialog', witnesses: ['bars instead of the input'] } as const;
  const after = listsSessions(screen, bottom) ? { ...state, hasChosen: true as const } : state;
  return {
    state: after,
    activity,
    facts: fillFacts(findFooter(screen, bottom), state.estimate !== undefined, at),
  };
};

const fillFacts = (fill: ShownFill | undefined, isEstimate: boolean, at: Millis): readonly Fact[] => {
  if (!fill) return [];
  const { windowTokens, ...used } = fill;
  const claim = { type: 'window', claim: { windowTokens, windowSource: 'agent' } } as const;
  if (isEstimate || used.usedTokens === 0) return [claim]; // 0 stands for a conversation without a number
  const reading: Reading = { ...used, windowTokens, windowSource: 'agent', source: 'screen', at };
  return [claim, { type: 'reading', reading }];
};

const estimateAfter = (
  estimate: Estimate | undefined,
  { live, fill }: InputArea,
): Pick<KimiScreen, 'estimate'> => {
  const shown = fill?.usedTokens;
  if (live.compacting) return { estimate: { before: shown ?? estimate?.before, hasWorked: false } };
  if (!estimate || shown === undefined) return estimate ? { estimate } : {};
  const { before, after, hasWorked } = estimate;
  if (after === undefined && shown === before) return {}; // it has failed
  if (live.working) return { estimate: { ...estimate, after: after ?? shown, hasWorked: true } };
  return hasWorked && shown !== after ? {} : { estimate: { ...estimate, after: after ?? shown } };
};

// How a compaction ends: Kimi says so in the conversation. A failed one is "cancelled" there, too, with the error below.

const COMMAND = /^\/compact(?:\s|$)/;
const COMPLETE = /^ ● Compaction complete(?: \(\d+ → \d+ tokens\))?/;
const CANCELLED = /^ ● Compaction cancelled$/;
const FAILED = /^ {3}Error: /;
/** Instead of a compaction. */
const REFUSED = /^ {3}Error: (?:\[compaction\.|Cannot (?:\/compact|compact) |No messages to compact)/;
const NOTHING = /No messages to compact/;
const LONGEST = 160; // characters of a server error

const isComplete = ([first = '']: readonly string[]): boolean => COMPLETE.test(first);

const watchedAfter = (
  watched: KimiScreen['watched'],
  { screen, box, live, end }: InputArea,
): Pick<KimiScreen, 'watched'> => {
  const text = end.join('\n');
  if (live.compacting) return { watched: { kind: 'running', end: text } };
  if (COMMAND.test(inputText(screen, box))) return { watched: { kind: 'typed', end: text } };
  return watched?.kind === 'typed' && watched.end === text ? { watched } : {};
};

const resultFacts = (watched: KimiScreen['watched'], { live, end, at }: InputArea): readonly Fact[] => {
  if (!watched || live.compacting || end.join('\n') === watched.end) return [];
  const isOver = watched.kind === 'running';
  const failed = end.findLast((row) => (isOver && isCancelled(end) ? FAILED : REFUSED).test(row));
  if (failed !== undefined) return [failureOf(failed.trim().slice(0, LONGEST))];
  if (isComplete(end)) return [{ type: 'boundary', boundary: { initiator: 'user', source: 'screen', at } }];
  return isOver && isCancelled(end)
    ? [{ type: 'compact-result', result: { kind: 'interrupted', by: 'the user' } }]
    : [];
};

const isCancelled = ([first = '']: readonly string[]): boolean => CANCELLED.test(first);

const failureOf = (text: string): Fact => {
  if (NOTHING.test(text)) return { type: 'compact-result', result: { kind: 'noop', text } };
  const failure = /EmptyResponse/.test(text) ? 'empty' : /TruncatedError/.test(text) ? 'truncated' : 'error';
  return { type: 'compact-result', result: { kind: 'failed', failure, text } };
};

// Any sign against an idle prompt wins.

const activityOf = (
  { screen, status }: ScreenEvidence,
  { box, live: { compacting, working, queued }, fill }: InputArea,
  { hasWorked }: KimiScreen,
): ActivityReport => {
  const is = (activity: ActivityReport['activity'], ...witnesses: readonly string[]): ActivityReport => ({
    activity,
    witnesses,
  });
  if (compacting) return is('compacting', 'compacting context');
  if (working || queued) return is('busy', working ? 'spinner' : 'queued messages');
  if (box.mode !== '>') return { ...is('unknown', 'shell mode'), place: 'shell mode' };
  if (status?.state === 'busy') return is('busy', 'a turn in its session file');
  if (status?.state === 'compacting') return is('compacting', 'a compaction in its session file');
  if (inputText(screen, box) !== '') return is('draft', 'text in the input');
  if (!isEmpty(screen, box)) return is('unknown', 'the cursor is elsewhere');
  if (!fill) return is('unknown', 'empty prompt row', 'no footer');
  if (status?.state === 'idle') return is('ready', 'empty prompt row', 'its last turn has ended');
  if (status?.state === 'new' && !hasWorked)
    return is('ready', 'empty prompt row', 'no turn since the start');
  return is('unknown', 'empty prompt row', `session file ${status?.state ?? 'not found'}`);
};
