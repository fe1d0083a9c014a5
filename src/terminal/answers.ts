import type headless from '@xterm/headless';

/** What a terminal does beside drawing, when it is one that somebody sits at and not a model of it. */
export interface Answers {
  /** to the program: what it asked for */
  readonly send: (bytes: string) => void;
  /** the terminal understands OSC 7501, and says so when it is asked; most do not */
  readonly hearsState: boolean;
  /** a program has told its state, `state=idle:app=codex` (facts/codex.md §5) */
  readonly onState: (state: string) => void;
}

// OSC 10 to 12: text, background, cursor. XParseColor's form, in which xterm answers, with four digits a channel.
const COLOURS: ReadonlyMap<number, string> = new Map([
  [10, 'd0d0/d0d0/d0d0'],
  [11, '1010/1010/1010'],
  [12, 'd0d0/d0d0/d0d0'],
]);
const STATE = 7501;

/** xterm.js answers most questions by itself, but leaves the colours to who draws it, and the size of the text area to who allows it. */
export const answerQuestions = (
  terminal: headless.Terminal,
  { send, hearsState, onState }: Answers,
): void => {
  const { parser, options } = terminal;
  options.windowOptions = { getWinSizeChars: true };
  terminal.onData((bytes) => {
    if (bytes !== '') send(bytes);
  });
  for (const [code, colour] of COLOURS)
    parser.registerOscHandler(code, (text) => {
      if (text === '?') send(`\x1b]${code};rgb:${colour}\x1b\\`);
      return true;
    });
  parser.registerOscHandler(STATE, (text) => {
    if (text !== '?') onState(text);
    else if (hearsState) send(`\x1b]${STATE};?\x1b\\`); // the bytes of the question
    return false;
  });
};
