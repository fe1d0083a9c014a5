import type headless from '@xterm/headless';
import type { Signals } from '../core/screen-view.js';

const MAX_TEXT = 256; // characters of a title or notification that anybody looks at

/** Listens to what a program tells the terminal in OSC strings; the returned function gives what was said last. */
export const hookSignals = (terminal: headless.Terminal): (() => Signals) => {
  let signals: Signals = {};
  const note = (more: Signals): boolean => {
    signals = { ...signals, ...more };
    return false; // the emulator's own handler comes next
  };
  const { parser } = terminal;
  for (const code of [0, 2])
    parser.registerOscHandler(code, (text) => note({ title: text.slice(0, MAX_TEXT) }));
  parser.registerOscHandler(7501, (text) => note({ agentState: text.slice(0, MAX_TEXT) }));
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
