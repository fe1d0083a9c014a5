// For `debug.text`: the screens on which something new was read, row by row, so that the fault behind a wrong number can be found.
import type { Seen } from '../../runtimes/seen.js';
import type { Watched } from './screen-watch.js';

/** Tells `write` the screen whenever its number or the agent's activity is another one than before. */
export const screenText = (write: (line: string) => void) => {
  let told: string | undefined;
  return ({ screen, signals }: Seen, { activity, events }: Watched): void => {
    const numbers = events.flatMap((event) => (event.type === 'reading' ? [event.reading] : []));
    const news = JSON.stringify([activity, ...numbers.map((each) => ({ ...each, at: 0 }))]);
    if (news === told) return;
    told = news;
    if (signals.title !== undefined) write(`title ${signals.title}`);
    for (let row = 0; row < screen.rows; row += 1) {
      const text = screen.text(row);
      if (text.trim() !== '') write(`row ${row} ${row === screen.cursorRow ? '>' : '|'} ${text}`);
    }
  };
};
