import { stat } from 'node:fs/promises';
import type { Agent } from '../agents/agent.js';
import { briefText } from '../core/brief.js';
import { errorText } from '../core/errors.js';
import type { Event } from '../core/event.js';
import { keptCounts, keptText, lostItems, type Receipt } from '../core/receipt.js';
import { noticeEvent, outcomeNoticeEvent } from '../core/session-flow.js';
import type { Log } from '../storage/log-file.js';
import { readReceipt } from './read-receipt.js';
import type { DraftResult } from './typist.js';

// The receipt of the last compaction of a running session: read from the session file after the compaction, told in the footer, shown in the
// overlay, and put into the prompt when the user asks for it.

const AFTER_MS = 2_000; // the agents write the summary after the record of the compaction
const MOST_BYTES = 64 * 1024 * 1024; // of a session file: a larger conversation would fill the worker's memory
const FOOTER_KINDS = 3; // as many as a footer has room for

export interface ReceiptsOptions {
  readonly agent: Agent;
  /** the agent's session file, once it is known */
  readonly sessionFile: () => string | undefined;
  /** how the user opens the overlay: `Ctrl-]`; undefined if no key does */
  readonly hotkey: string | undefined;
  readonly log: Log;
  readonly onEvent: (event: Event) => void;
  /** puts the text into the prompt, unless the signal withdraws it before, and says in the footer what came of it */
  readonly putDraft: (text: string, signal?: AbortSignal) => Promise<DraftResult>;
}

export type BriefResult =
  | { readonly kind: 'drafted' }
  /** nothing was typed */
  | { readonly kind: 'refused'; readonly reason: string }
  /** the text was pasted, and the prompt does not show it */
  | { readonly kind: 'unknown'; readonly reason: string };

export interface Receipts {
  readonly noteEvent: (event: Event) => void;
  /** of the last compaction: `3 of 41 paths, 0 of 12 commands`; undefined where it is not known */
  readonly keptText: () => string | undefined;
  /** puts what the last compaction has lost into the prompt, as a draft; never rejects */
  readonly brief: (signal?: AbortSignal) => Promise<BriefResult>;
  readonly stop: () => void;
}

const NOTHING = 'nothing is known to be lost';

export const makeReceipts = (options: ReceiptsOptions): Receipts => {
  const { agent, hotkey, log, onEvent } = options;
  const ask = hotkey === undefined ? 'ctxwrap brief' : `${hotkey} b: brief`;
  let last: Receipt | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const read = async (): Promise<Receipt | undefined> => {
    const path = options.sessionFile();
    if (path === undefined || !agent.conversations) return undefined;
    if ((await stat(path)).size > MOST_BYTES) return undefined;
    return (await readReceipt({ agent, path }, 'last'))?.receipt;
  };
  const refresh = async (): Promise<void> => {
    try {
      last = await read();
    } catch (error) {
      log.info(`the receipt of the compaction cannot be read: ${errorText(error)}`);
    }
  };
  const tell = async (): Promise<void> => {
    await refresh();
    if (isStopped || !last || last.isUnreadable) return;
    const kept = keptText(keptCounts(last), FOOTER_KINDS);
    if (kept === undefined || lostItems(last).length === 0) return;
    onEvent(outcomeNoticeEvent(`kept ${kept} · ${ask}`));
  };
  const brief = async (signal?: AbortSignal): Promise<BriefResult> => {
    await refresh();
    const text = last && briefText(last);
    if (text === undefined) {
      if (!isStopped) onEvent(noticeEvent(`brief: ${NOTHING}`));
      return { kind: 'refused', reason: NOTHING };
    }
    const result = await options.putDraft(text, signal);
    if (result.kind === 'there') return { kind: 'drafted' };
    return result.kind === 'skipped'
      ? { kind: 'refused', reason: result.reason }
      : { kind: 'unknown', reason: 'pasted, but not seen in the prompt' };
  };
  return {
    noteEvent: (event) => {
      if (event.type === 'session-changed') last = undefined;
      if (event.type !== 'boundary' || event.boundary.source === 'screen') return;
      last = undefined;
      clearTimeout(timer);
      timer = setTimeout(() => void tell(), AFTER_MS).unref();
    },
    keptText: () => last && keptText(keptCounts(last)),
    brief,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};
