import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** The test's end of a socket to one of its programs, which sends one JSON object a line. */
export interface ChildSocket {
  send: (message: object) => void;
  /** resolves when the condition holds, tested at each message of the program */
  until: (isMet: () => boolean) => Promise<void>;
  isGone: () => boolean;
  close: () => void;
}

interface Options<Message> {
  readonly path: string;
  readonly hear: (message: Message) => void;
  /** a wait that takes longer fails with this reason instead of by the time limit of the test */
  readonly patience?: { readonly ms: number; readonly reason: () => string };
}

export const listenToChild = <Message>({ path, hear, patience }: Options<Message>): ChildSocket => {
  let socket: Socket | undefined;
  let isGone = false;
  const watchers = new Set<() => void>();
  const look = (): void => watchers.forEach((watcher) => watcher());
  const server = createServer((connected) => {
    socket = connected;
    connected.on('error', () => undefined); // it may be killed while it sends
    connected.on('close', () => {
      isGone = true;
      look();
    });
    createInterface({ input: connected }).on('line', (line) => {
      hear(JSON.parse(line) as Message);
      look();
    });
  }).listen(path);
  return {
    send: (message) => void socket?.write(`${JSON.stringify(message)}\n`),
    until: (isMet) =>
      new Promise((resolve, reject) => {
        const timer = patience && setTimeout(() => reject(new Error(patience.reason())), patience.ms);
        const watcher = (): void => {
          if (!isMet()) return;
          clearTimeout(timer);
          watchers.delete(watcher);
          resolve();
        };
        watchers.add(watcher);
        watcher();
      }),
    isGone: () => isGone,
    close: () => {
      socket?.destroy();
      server.close();
    },
  };
};
