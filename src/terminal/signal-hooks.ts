import type headless from '@xterm/headless';
import type { Signals } from '../core/screen-view.js';

const MAX_TEXT = 256; // characters of a title or notification that anybody looks at
const MOST_TITLES = 8;
const MAX_STATE = 4_096; // of an agent's state, whose message of up to 2048 bytes is in base64

/** Its own state: no question about states, and not that of one of its helpers, which have an `id` (Claude Code 2.1.330). */
const isOwnState = (text: string): boolean => text.startsWith('state=') && !text.includes(':id=');

/** Listens to what a program tells the terminal in OSC strings; the returned function gives what was said last. */
export const hookSignals = (terminal: headless.Terminal): (() => Signals) => {
  let signals: Signals = {};
  const note = (more: Signals): boolean => {
    signals = { ...signals, ...more };
    return false; // the emulator's own handler comes next
  };
  const { parser } = terminal;
  for (const code of [0, 2])
    parser.registerOscHandler(code, (text) => note(titled(signals, text.slice(0, MAX_TEXT))));
  parser.registerOscHandler(7501, (text) =>
    isOwnState(text) ? note({ agentState: text.slice(0, MAX_STATE) }) : false,
  );
  parser.registerOscHandler(9, (text) => {
    const progress = /^4;(\d)/.exec(text)?.[1];
    return note(
      progress === undefined ? { notification: text.slice(0, MAX_TEXT) } : { progress: Number(progress) },
    );
  });
  for (const code of [99, 777])
    parser.registerOscHandler(code, (text) => note({ notification: text.slice(0, MAX_TEXT) }));
  return () => signals;
};

const titled = ({ title: before, titlesBefore = [] }: Signals, title: string): Signals =>
  before === undefined || before === title
    ? { title }
    : { title, titlesBefore: [...titlesBefore, before].slice(-MOST_TITLES) };
