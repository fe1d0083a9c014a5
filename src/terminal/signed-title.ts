import type { SignSet, TitleSigns } from '../core/title-signs.js';
import type { OutputCommand } from './cut-commands.js';

/**
 * The title as an agent would have set it for a terminal that understands no states, made of the titles and states that it sends to one
 * that does. All texts are bytes as Latin-1. What it returns is for the terminal; '' where nothing changes there.
 */
export interface SignedTitle {
  /** a title that reaches the terminal as it is */
  readonly note: (title: OutputCommand) => void;
  /** a title without its sign */
  readonly sign: (title: OutputCommand) => string;
  /** a state, in its place */
  readonly tell: (state: OutputCommand) => string;
  /** the next sign of those that take turns */
  readonly turn: () => string;
  /** the signs take turns now */
  readonly isMoving: () => boolean;
  /** the title as the agent has set it, for a terminal that has the signed one */
  readonly bare: () => string;
}

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

const inLatin1 = ({ rest, busy: [first, ...others] }: SignSet): SignSet => ({
  rest: latin1(rest),
  busy: [latin1(first), ...others.map(latin1)],
});

/** Which of the sets a title has its sign of, and the name behind it. */
const signIn = (
  sets: readonly SignSet[],
  text: string,
): { set: SignSet; sign: string; name: string } | undefined => {
  const [sign = ''] = /^[^ ]+(?= )/.exec(text) ?? [];
  const set = sets.find(({ rest, busy }) => rest === sign || busy.includes(sign));
  return set && { set, sign, name: text.slice(sign.length + 1) };
};

export const makeSignedTitle = ({ sets, isWorking }: TitleSigns): SignedTitle => {
  const known = sets.map(inLatin1);
  /** undefined for an agent that puts no sign there */
  let set = known.at(0);
  let title: OutputCommand | undefined; // its name alone is the text
  let shown: string | undefined; // text of the agent's last title that the terminal has got
  let keepsSign = false; // it tells states, and leaves nothing out
  let works = false;
  let frame = 0;

  const text = (name: string): string => {
    if (!set || name === '') return name;
    const busy = set.busy[frame % set.busy.length] ?? set.rest;
    return `${works ? busy : set.rest} ${name}`;
  };
  const show = ({ code, text: next, end }: OutputCommand): string => {
    if (next === shown) return '';
    shown = next;
    return `\x1b]${code};${next}${end}`;
  };
  const again = (): string => (title && !keepsSign ? show({ ...title, text: text(title.text) }) : '');
  /** Of another program that has the terminal for a while: it uses another code. */
  const isForeign = ({ code }: OutputCommand): boolean => title !== undefined && title.code !== code;
  const note = (given: OutputCommand): void => {
    const found = signIn(known, given.text);
    if (isForeign(given) && !found) return; // the agent does not see it either
    shown = given.text;
    if (given.text !== '') set = found?.set;
    title = { ...given, text: found?.name ?? given.text };
    if (found) frame = Math.max(0, found.set.busy.indexOf(found.sign));
  };
  return {
    note,
    sign: (given) => {
      keepsSign ||= signIn(known, given.text) !== undefined;
      if (isForeign(given) || keepsSign) {
        note(given);
        return `\x1b]${given.code};${given.text}${given.end}`;
      }
      title = given;
      return again();
    },
    tell: ({ text: told }) => {
      works = isWorking(told) ?? works;
      return again();
    },
    turn: () => {
      frame = (frame + 1) % (set?.busy.length ?? 1);
      return again();
    },
    isMoving: () =>
      works && !keepsSign && title !== undefined && title.text !== '' && (set?.busy.length ?? 1) > 1,
    bare: () => (title ? show(title) : ''),
  };
};
