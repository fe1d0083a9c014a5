// What can be waited for in a session: on the screen, in the log, at the model server.
import type { Asked, Mock } from './mock/server.js';
import type { Traces } from './traces.js';
import type { UserWindow } from './window.js';

export interface Waits {
  readonly footer: () => string;
  /** resolves with the first line of the wrapper's log from this place on that matches */
  readonly untilLog: (pattern: RegExp, from?: number, patienceMs?: number) => Promise<string>;
  readonly untilFooter: (pattern: RegExp, patienceMs?: number) => Promise<void>;
  readonly untilScreen: (pattern: RegExp) => Promise<void>;
  readonly untilAsked: (isIt: (asked: Asked) => boolean, what: string, patienceMs?: number) => Promise<void>;
}

export const makeWaits = (terminal: UserWindow, mock: Mock, { log }: Traces): Waits => {
  const footer = (): string => terminal.rows().at(-1) ?? '';
  return {
    footer,
    untilLog: async (pattern, from = 0, patienceMs) => {
      const found = (): string | undefined =>
        log()
          .slice(from)
          .split('\n')
          .find((line) => pattern.test(line));
      await terminal.until(() => found() !== undefined, `${pattern} in the log`, patienceMs);
      return found() ?? '';
    },
    untilFooter: (pattern, patienceMs) =>
      terminal.until(() => pattern.test(footer()), `${pattern} in the footer`, patienceMs),
    untilScreen: (pattern) =>
      terminal.until(() => pattern.test(terminal.screen()), `${pattern} on the screen`),
    untilAsked: (isIt, what, patienceMs) => terminal.until(() => mock.asked().some(isIt), what, patienceMs),
  };
};
