import { join } from 'node:path';
import { listenToChild } from './child-socket.js';
import { programPath } from './programs.js';

interface Message {
  readonly pid?: number;
  readonly size?: readonly [number, number];
  readonly received?: string;
  readonly done?: string;
}

/** A child whose output the test writes: the test's side of test/fixtures/programs/player.js. */
export interface ScriptedChild {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** resolves when it runs and its terminal is raw */
  ready: () => Promise<{ readonly pid: number }>;
  /** resolves when its terminal has accepted the bytes, written in pieces of these sizes, repeated */
  write: (bytes: Uint8Array | string, sizes?: readonly number[]) => Promise<void>;
  exit: (code: number) => void;
  /** makes it send itself a signal */
  kill: (signal: NodeJS.Signals) => void;
  /** what it has read from its terminal */
  received: () => string;
  /** the last size of its terminal, in rows and columns */
  size: () => readonly [number, number] | undefined;
  /** resolves when the condition holds, tested at each message */
  until: (isMet: () => boolean) => Promise<void>;
  ended: () => Promise<void>;
  close: () => void;
}

const PATIENCE_MS = 60_000; // then the test fails with a reason instead of by its time limit
const WHOLE = Number.MAX_SAFE_INTEGER;

/** `folder` is for its socket. */
export const makeScriptedChild = (folder: string): ScriptedChild => {
  const path = join(folder, 'player.sock');
  let pid = 0;
  let size: readonly [number, number] | undefined;
  let received = '';
  let done = 0;
  let asked = 0;
  const hear = (message: Message): void => {
    pid = message.pid ?? pid;
    size = message.size ?? size;
    received += message.received ?? '';
    if (message.done !== undefined) done += 1;
  };
  const reason = (): string => `the player never said it; received ${JSON.stringify(received)}, size ${size}`;
  const child = listenToChild<Message>({ path, hear, patience: { ms: PATIENCE_MS, reason } });
  const order = (text: object): number => {
    child.send(text);
    asked += 1;
    return asked;
  };
  return {
    command: [process.execPath, programPath('player.js')],
    env: { PLAYER_SOCKET: path },
    ready: async () => {
      await child.until(() => pid > 0);
      return { pid };
    },
    write: async (bytes, sizes = [WHOLE]) => {
      const turn = order({ do: 'write', bytes: Buffer.from(bytes).toString('base64'), sizes });
      await child.until(() => done >= turn || child.isGone());
    },
    exit: (code) => void order({ do: 'exit', code }),
    kill: (signal) => void order({ do: 'kill', signal }),
    received: () => received,
    size: () => size,
    until: child.until,
    ended: () => child.until(child.isGone),
    close: child.close,
  };
};
