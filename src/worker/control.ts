import { createServer, Socket } from 'node:net';
import { parseControlCommand } from '../core/control-command.js';
import { errorText } from '../core/errors.js';
import type { Event } from '../core/event.js';
import { eventLine, type EventContent } from '../core/report/published-event.js';
import type { Millis } from '../core/reading.js';
import { listenOn, type ControlPlace } from '../storage/control-place.js';
import { endsWithin } from '../storage/timing.js';

// The channel of a parent that owns the session (`--control`): commands in, events out, as JSON lines. Whatever comes in or does not go out,
// the session goes on.

const MOST_WAITING = 256 * 1024; // bytes that the parent has not read; more are dropped, and counted
const LONGEST_LINE = 16 * 1024;
const MOST_CHANNELS = 8;
const MOST_A_TURN = 16; // commands of one connection: what else the session does goes on between them
const END_MS = 500;

export interface ControlOptions {
  readonly place: ControlPlace;
  readonly session: string;
  /** a worker before this one has failed, and its descriptors with it */
  readonly isReplacement: boolean;
  /** names of those that can be used in this session */
  readonly strategies: readonly string[];
  /** the state now */
  readonly snapshot: () => EventContent;
  readonly now: () => Millis;
  readonly onEvent: (event: Event) => void;
  /** the channel cannot be opened */
  readonly onFailure: (reason: string) => void;
}

export interface Control {
  readonly emit: (content: EventContent) => void;
  /** resolves when all is written, or after a while */
  readonly close: () => Promise<void>;
}

interface Channel extends Control {
  readonly isOpen: () => boolean;
}

/** Opens the channel. Never throws and never rejects. */
export const openControl = (options: ControlOptions): Control => {
  const { place, isReplacement, onFailure } = options;
  let channels: readonly Channel[] = [];
  let opening = Promise.resolve();
  const requests: Requests = new Map();
  const add = (socket: Socket): void => {
    channels = channels.filter((each) => each.isOpen());
    if (channels.length >= MOST_CHANNELS) socket.destroy();
    else channels = [...channels, makeChannel(socket, options, requests)];
  };
  const server = createServer(add);
  server.on('error', (error) => onFailure(errorText(error)));
  server.unref();
  try {
    if ('fd' in place && isReplacement)
      onFailure('its descriptor was closed with the part that had to be restarted');
    else if ('fd' in place) add(new Socket({ fd: place.fd, readable: true, writable: true }));
    else opening = listenOn(server, place.path).catch((error: unknown) => onFailure(errorText(error)));
  } catch (error) {
    onFailure(errorText(error));
  }
  return {
    emit: (content) => {
      if (content.type === 'outcome' || content.type === 'refused') requests.delete(content.request ?? '');
      channels.forEach((channel) => channel.emit(content));
    },
    close: async () => {
      await endsWithin(END_MS, opening); // what it makes later would be left behind
      if (server.listening) server.close(); // it removes the socket, too
      await Promise.all(channels.map((channel) => channel.close()));
    },
  };
};

/** The connection of each request that has no answer yet, by the request's id. */
type Requests = Map<string, Socket>;

/** One connection. Its events are numbered from 1, and the first one is the state. */
const makeChannel = (socket: Socket, options: ControlOptions, requests: Requests): Channel => {
  const emit = makeEmitter(socket, options);
  const withdraw = (id: string): void => {
    requests.delete(id);
    options.onEvent({ type: 'compact-cancelled', id });
  };
  const onLine = (line: string | undefined): void => {
    if (line?.trim() === '') return;
    const { strategies } = options;
    const command = parseControlCommand(line ?? '', {
      freshId: `control-${crypto.randomUUID()}`,
      strategies,
    });
    if (command.kind === 'wrong')
      return emit({
        type: 'error',
        message: line === undefined ? `a line has at most ${LONGEST_LINE} bytes` : command.message,
      });
    if (command.kind === 'state') return emit(options.snapshot);
    const { event } = command;
    if (event.type === 'compact-cancelled') return withdraw(event.id);
    if (event.type === 'compact-requested') {
      const { id } = event.request;
      if (requests.has(id)) return emit({ type: 'error', message: `the request ${id} has no answer yet` });
      requests.set(id, socket);
    }
    options.onEvent(event);
  };
  takeInTurns(socket, onLine);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    for (const [id, from] of requests) if (from === socket) withdraw(id);
  });
  socket.unref();
  emit(options.snapshot);
  return {
    emit,
    isOpen: () => !socket.destroyed,
    close: async () => {
      requests.clear(); // the session ends, and they with it
      if (!socket.writable) return;
      await endsWithin(END_MS, new Promise<void>((done) => socket.end(() => done())));
      socket.destroy();
    },
  };
};

/** Writes events; a function gives one that is made only if it is written. Those that are not read are dropped, and counted once the parent reads again. */
const makeEmitter = (
  socket: Socket,
  { session, snapshot, now }: ControlOptions,
): ((content: EventContent | (() => EventContent)) => void) => {
  let seq = 0;
  let dropped = 0;
  const write = (content: EventContent): void => {
    seq += 1;
    socket.write(eventLine({ session, seq, at: now() }, content));
  };
  return (content) => {
    if (!socket.writable) return;
    if (socket.writableLength > MOST_WAITING) {
      dropped += 1;
      seq += 1;
      return;
    }
    if (dropped > 0) {
      const count = dropped;
      dropped = 0;
      seq -= 1; // `dropped` has the number of the last lost event
      write({ type: 'dropped', count });
      write(snapshot());
    }
    write(typeof content === 'function' ? content() : content);
  };
};

/** A line; undefined stands for one that is too long. */
type OnLine = (line: string | undefined) => void;

/** Calls back with some lines a turn of the event loop, and reads nothing more from the socket before the last one. */
const takeInTurns = (socket: Socket, onLine: OnLine): void => {
  const lines = makeLines();
  const take = (): void => {
    for (let count = 0; count < MOST_A_TURN; count += 1) {
      if (socket.destroyed) return;
      const next = lines.next();
      if (!next) return void socket.resume();
      onLine(next.line);
    }
    setImmediate(take);
  };
  socket.on('data', (bytes: Buffer) => {
    socket.pause();
    lines.push(bytes);
    take();
  });
};

/** Splits bytes into lines, one at a time. */
const makeLines = () => {
  let all = Buffer.alloc(0);
  let isTooLong = false;
  return {
    push: (bytes: Buffer): void => {
      all = Buffer.concat([all, bytes]);
    },
    /** the next whole line; undefined where there is none */
    next: (): { readonly line: Parameters<OnLine>[0] } | undefined => {
      const end = all.indexOf(0x0a);
      if (end < 0) {
        isTooLong ||= all.length > LONGEST_LINE;
        if (isTooLong) all = Buffer.alloc(0);
        return undefined;
      }
      const line = isTooLong || end > LONGEST_LINE ? undefined : all.toString('utf8', 0, end);
      isTooLong = false;
      all = all.subarray(end + 1);
      return { line };
    },
  };
};
