import type { TitleSigns } from '../core/title-signs.js';
import { cutCommands, type OutputCommand, type OutputPiece } from './cut-commands.js';
import type { StreamFilter } from './filter/stream-filter.js';
import { makeSignedTitle } from './signed-title.js';

/**
 * Answers an agent that asks whether the terminal understands agent states (`OSC 7501;?`), where the terminal does not. The question goes
 * to the terminal, and behind it one of ours that every terminal answers: terminals answer in order, so whose answer comes first tells.
 * A terminal that does not understand gets what it would have got without an answer: titles with their sign, and no states.
 */
export interface StandIn {
  /** in place of the filter that it was made with */
  readonly filter: StreamFilter;
  /** the terminal has still to be heard */
  readonly isAsked: () => boolean;
  /** an answer of the terminal: true where it is the child's, false where the child has had one from us */
  readonly hear: () => boolean;
  /** what the child gets now in the terminal's place; `giveUp`: the terminal has had its time */
  readonly due: (giveUp?: 'giveUp') => Uint8Array | undefined;
  /** the next title of those that take turns, as characters for the terminal; '' while there is none */
  readonly turn: () => string;
  readonly isMoving: () => boolean;
  /** told once the terminal has answered too late: what it has missed of the child's */
  readonly onLate: (act: (missed: string) => void) => void;
  /** from here on nothing is changed and nobody is answered */
  readonly stop: () => void;
}

const QUESTION = '?';
/** The answer has the question's own bytes (Claude Code 2.1.330, facts/updates-2026-11-22.md). */
const ANSWER = '\x1b]7501;?\x1b\\';
const STATES = '7501';
const FENCE = '\x1b[6n'; // CPR, which the start of a session asks for as well

const characters = (latin1: string): string => Buffer.from(latin1, 'latin1').toString();

const nothing = new Uint8Array();

/** The filter with something else that passes pieces to it. */
const cutting = (inner: StreamFilter, pass: (piece: OutputPiece) => readonly Uint8Array[]): StreamFilter => {
  let held: Uint8Array = nothing;
  return {
    ...inner,
    push: (chunk) => {
      const cut = cutCommands(held, chunk);
      ({ held } = cut);
      const [only, ...others] = cut.pieces;
      return only && others.length === 0 ? pass(only) : cut.pieces.flatMap(pass);
    },
    flush: () => {
      const rest = Buffer.concat([inner.flush(), held]);
      held = nothing;
      return rest;
    },
    isWhole: () => held.length === 0 && inner.isWhole(),
  };
};

export const makeStandIn = (inner: StreamFilter, signs: TitleSigns): StandIn => {
  const { questions } = inner.ledger;
  const title = makeSignedTitle(signs);
  let isAsked = false;
  let isOurs = false; // the child reports to us, and the terminal gets none of it
  let isTheirs = false; // the terminal has answered
  let lastState = '';
  let isStopped = false;
  let late: (missed: string) => void = () => undefined;

  const ask = (parts: readonly Uint8Array[]): readonly Uint8Array[] => {
    isAsked = true;
    questions.ask(STATES, false);
    questions.ask('R', true);
    return [...parts, Buffer.from(FENCE)];
  };
  const instead = (command: OutputCommand): string | undefined => {
    const isState = command.code === STATES;
    if (isState) lastState = command.text;
    if (isOurs) return isState ? title.tell(command) : title.sign(command);
    if (!isState && !isTheirs) title.note(command);
    return undefined;
  };
  const pass = ({ bytes, command }: OutputPiece): readonly Uint8Array[] => {
    if (!command) return inner.push(bytes);
    if (command.code === STATES && command.text === QUESTION) return ask(inner.push(bytes));
    const other = instead(command);
    if (other === undefined) return inner.push(bytes);
    return other === '' ? [] : inner.push(Buffer.from(other, 'latin1'));
  };
  return {
    filter: cutting(inner, (piece) => (isStopped ? inner.push(piece.bytes) : pass(piece))),
    isAsked: () => isAsked,
    hear: () => {
      const wasOurs = isOurs;
      const isChilds = isAsked || !wasOurs;
      questions.take(STATES);
      [isAsked, isOurs, isTheirs] = [false, false, true];
      if (wasOurs) late(characters(title.bare() + (lastState && `\x1b]${STATES};${lastState}\x1b\\`)));
      return isChilds;
    },
    due: (giveUp) => {
      if (!isAsked || isStopped || (questions.isOpen(STATES) && !giveUp)) return undefined;
      [isAsked, isOurs, isTheirs] = [false, true, false];
      return Buffer.from(ANSWER);
    },
    turn: () => (isOurs && !isStopped ? characters(title.turn()) : ''),
    isMoving: () => isOurs && !isStopped && title.isMoving(),
    onLate: (act) => {
      late = act;
    },
    stop: () => {
      isStopped = true;
    },
  };
};
