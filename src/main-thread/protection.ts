import { hotkeyName } from '../core/format.js';
import { type Printable } from '../core/printable.js';
import { plainRow } from './plain-row.js';
import type { Look } from '../core/look.js';
import type { Footer } from './footer.js';
import type { LostRecord } from './lost-record.js';
import type { ExitStatus, StartedChild } from '../session/options.js';
import type { Resize } from './resize.js';
import { runGuarded, type TerminalSession } from './terminal-session.js';
import { endsWithin } from '../storage/timing.js';
import type { PublishedSession } from '../session/identity.js';

// What is left when the last worker of a session has failed: the agent runs on, one row says that nothing is compacted any more, and other
// programs see it, too. All of it is in the main thread, and needs nothing that a worker draws with.

const MARGIN = 1; // columns left blank at the left, as in the footer
const ASCII = /^[\x20-\x7e]+$/; // only then a character is a column for certain

interface RowTexts {
  /** undefined where it is disabled */
  readonly hotkey: string | undefined;
  /** what the user can type to compact; undefined where it is not known */
  readonly command: string | undefined;
}

/** From the longest to the shortest. */
const rowTexts = ({ hotkey, command }: RowTexts, dot: string): readonly string[] => {
  const numbers = 'ctxwrap has failed: no numbers, no compaction';
  const short = 'ctxwrap has failed: no compaction';
  const yourself = command !== undefined && ASCII.test(command) ? [`type ${command} yourself`] : [];
  const hide = hotkey === undefined ? [] : [`${hotkey} q hides this row`];
  return [
    [numbers, ...yourself, ...hide],
    [numbers, ...hide],
    [short, ...hide],
    [short],
    ['ctxwrap has failed'],
    ['failed'],
  ].map((parts) => parts.join(` ${dot} `));
};

/** The row: ASCII and at most one sign, in red where there are colours; never wider than the terminal. */
export const lostRow = (look: Look, texts: RowTexts): Printable => {
  const room = Math.max(0, look.columns - MARGIN);
  const all = rowTexts(texts, look.ascii ? '-' : '·');
  const text = all.find(({ length }) => length <= room) ?? '';
  return plainRow({ text: ' '.repeat(MARGIN) + text, tier: 'hard' }, look);
};

/** Whether ctxwrap still does what it is for in this session. */
export interface Protection {
  /** the last worker has failed */
  readonly lose: (child: StartedChild) => void;
  /** the hotkey was pressed: true if it is handled here */
  readonly onHotkey: () => boolean;
  /** `q` or Esc right after the hotkey: true if it is handled here */
  readonly onLeave: () => boolean;
  /** resolves when the session's end is recorded, or after a while, where no worker records it */
  readonly stop: (status: ExitStatus) => Promise<void>;
}

export interface ProtectionParts {
  readonly footer: Pick<Footer, 'showFixed'>;
  readonly resize: Pick<Resize, 'check'>;
}

const END_MS = 500; // for the last record; a disk that hangs must not keep the user's shell waiting

export const makeProtection = (
  terminal: TerminalSession,
  { footer, resize }: ProtectionParts,
): Protection => {
  const { session } = terminal;
  const { values, wrapper, agent, env, log } = session;
  let isLost = false;
  let record: Promise<LostRecord | undefined> | undefined;

  const publish = async (published: PublishedSession, child: StartedChild) =>
    (await import('./lost-record.js')).publishLostRecord(published, child);
  const showRow = (): void => {
    const texts = { hotkey: hotkeyName(values), command: agent.recipe?.(env)?.command };
    terminal.isRowWanted = false; // nothing is due any more
    footer.showFixed((look) => lostRow(look, texts));
    resize.check();
  };
  const setRowWanted = (isWanted: boolean): void => {
    terminal.isFooterWanted = isWanted;
    resize.check();
  };
  return {
    lose: (child) => {
      isLost = true;
      if (wrapper)
        record = publish({ ...session, wrapper }, child).catch((error: unknown) => {
          log.warn(`other programs do not see that ctxwrap has failed: ${String(error)}`);
          return undefined;
        });
      if (!terminal.isPassthrough) runGuarded(terminal, 'showing that ctxwrap has failed', showRow);
    },
    onHotkey: () => {
      if (!isLost || terminal.isPassthrough || !values.footer) return false;
      setRowWanted(true);
      return true;
    },
    onLeave: () => {
      if (!isLost || terminal.isPassthrough) return false;
      setRowWanted(false);
      return true;
    },
    stop: async (status) => {
      if (record)
        await endsWithin(
          END_MS,
          record.then((lost) => lost?.end(status)),
        );
    },
  };
};
