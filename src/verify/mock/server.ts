import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { parseRecord } from '../../core/json.js';
import { anthropic } from './anthropic.js';
import {
  failureOf,
  json,
  type Api,
  type Purpose,
  type Question,
  type Wire,
  firstControl,
  withChange,
  type Answer,
  type Change,
} from './api.js';
import { chat } from './chat.js';
import { google } from './google.js';
import { responses } from './responses.js';

// A model server on the loopback device that speaks four APIs and does as it is told.

const apis: readonly Api[] = [anthropic, responses, google, chat];

const SAID_LENGTH = 200; // characters of what was said that are kept

/** A request of an agent, and what became of it. */
export interface Asked {
  readonly api: string;
  readonly purpose: Purpose | 'unknown';
  readonly path: string;
  readonly said: string;
  /** milliseconds since 1970 */
  readonly at: number;
  readonly end?: 'answered' | 'failed' | 'dropped' | 'left by the agent';
}

export interface Mock {
  readonly port: number;
  /** what it answers from now on */
  readonly control: (change: Change) => void;
  readonly asked: () => readonly Asked[];
  /** called after each request, and after the end of each */
  readonly onChange: (listener: () => void) => void;
  readonly close: () => void;
}

/** What it is told to answer, and what it takes of that for a question. */
const makeOrders = () => {
  let control = firstControl;
  return {
    change: (wanted: Change): void => void (control = withChange(control, wanted)),
    take: (question: Question): Answer => {
      const { turn, summary, next } = control;
      if (question.purpose === 'side') return { ...firstControl.turn, text: question.sideText ?? '' };
      if (question.purpose === 'summary')
        return { ...summary, usedTokens: summary.usedTokens || turn.usedTokens };
      // the answer to what a tool has said is the plain one
      if (question.isAfterTool) return { ...turn, command: undefined };
      const [first, ...rest] = next;
      control = { ...control, next: rest };
      return { ...turn, ...first };
    },
  };
};

/** What it was asked, and how that ended. */
const makeBook = () => {
  let asked: readonly Asked[] = [];
  let listener: () => void = () => undefined;
  return {
    asked: (): readonly Asked[] => asked,
    onChange: (next: () => void): void => void (listener = next),
    note: (what: Omit<Asked, 'at' | 'end'>): ((end: NonNullable<Asked['end']>) => void) => {
      const index = asked.length;
      asked = [...asked, { ...what, at: Date.now() }];
      listener();
      return (end) => {
        asked = asked.map((each, at) => (at === index && each.end === undefined ? { ...each, end } : each));
        listener();
      };
    },
  };
};

export const startMock = async (): Promise<Mock> => {
  const { change, take } = makeOrders();
  const { note, asked, onChange } = makeBook();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const path = new URL(request.url ?? '/', 'http://mock').pathname;
    const found = questionIn(path, body);
    if (!found) {
      note({ api: '', purpose: 'unknown', path, said: '' })('failed');
      // lists of models are looked at by agents that do without them
      return send(
        response,
        json(path.endsWith('/models') ? 200 : 404, { object: 'list', data: [], models: [] }),
      );
    }
    const { api, question } = found;
    const { purpose, said } = question;
    const end = note({ api: api.name, purpose, path, said: said.slice(-SAID_LENGTH) });
    response.once('close', () => end('left by the agent'));
    await reply(response, { ...found, answer: take(question), id: String(asked().length) }, end);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    port: (server.address() as AddressInfo).port,
    control: change,
    asked,
    onChange,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const questionIn = (path: string, body: string): { api: Api; question: Question } | undefined => {
  const record = parseRecord(body);
  for (const api of apis) {
    const question = record && api.read(path, record);
    if (question) return { api, question };
  }
  return undefined;
};

interface Reply {
  readonly api: Api;
  readonly question: Question;
  readonly answer: Answer;
  readonly id: string;
}

const reply = async (
  response: ServerResponse,
  { api, question, answer, id }: Reply,
  end: (how: NonNullable<Asked['end']>) => void,
): Promise<void> => {
  const { fault, waitMs, thinkMs, spreadMs } = answer;
  const wire = api.answer(question, answer, id);
  await pause(wire.isStream ? waitMs : waitMs + thinkMs + spreadMs);
  if (response.destroyed) return;
  if (fault && fault.kind !== 'drop') {
    end('failed');
    return send(response, api.fail(failureOf(fault, api)));
  }
  head(response, wire);
  // until it is under way: a drop comes in the middle of the answer, not before it
  const write = (text: string): Promise<void> =>
    new Promise((written) => response.write(text, () => written()));
  await write(wire.opening.join(''));
  if (wire.isStream) await think(response, thinkMs, api.ping);
  const { pieces } = wire;
  const sent = fault ? pieces.slice(0, Math.ceil(pieces.length / 2)) : pieces;
  for (const [index, piece] of sent.entries()) {
    if (index > 0 && spreadMs > 0) await pause(spreadMs / (pieces.length - 1));
    if (response.destroyed) return;
    await write(piece);
  }
  if (fault) {
    end('dropped');
    response.destroy();
    return;
  }
  // with the last of it the agent has its answer, and may leave
  end('answered');
  response.end(wire.closing.join(''));
};

const PING_MS = 2_000;

const think = async (response: ServerResponse, ms: number, ping = ''): Promise<void> => {
  for (let left = ms; left > 0 && !response.destroyed; left -= PING_MS) {
    if (ping !== '') response.write(ping);
    await pause(Math.min(left, PING_MS));
  }
};

const head = (response: ServerResponse, { status, isStream }: Wire): void => {
  response.writeHead(status, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
};

const send = (response: ServerResponse, wire: Wire): void => {
  head(response, wire);
  response.end([...wire.opening, ...wire.pieces, ...wire.closing].join(''));
};
