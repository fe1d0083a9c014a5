// A model server on the loopback device that speaks four APIs and does as it is told.
// POST /__control changes what it answers, GET /__state tells what it was asked.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { parseRecord } from '../../../src/core/json.js';
import { anthropic } from './anthropic.js';
import { failureOf, json, type Api, type Purpose, type Question, type Wire } from './api.js';
import { chat } from './chat.js';
import { firstControl, withChange, type Answer, type Control } from './control.js';
import { gemini } from './gemini.js';
import { responses } from './responses.js';

const apis: readonly Api[] = [anthropic, responses, gemini, chat];

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
  readonly control: (change: unknown) => Control;
  readonly asked: () => readonly Asked[];
  /** called after each request, and after the end of each */
  readonly onChange: (listener: () => void) => void;
  readonly close: () => void;
}

export const startMock = async (port = 0): Promise<Mock> => {
  let control = firstControl;
  let asked: readonly Asked[] = [];
  let listener: () => void = () => undefined;

  const change = (wanted: unknown): Control => (control = withChange(control, wanted));
  const note = (what: Omit<Asked, 'at' | 'end'>): ((end: NonNullable<Asked['end']>) => void) => {
    const index = asked.length;
    asked = [...asked, { ...what, at: Date.now() }];
    listener();
    return (end) => {
      asked = asked.map((each, at) => (at === index && each.end === undefined ? { ...each, end } : each));
      listener();
    };
  };
  const take = (question: Question): Answer => {
    const { turn, summary, next } = control;
    if (question.purpose === 'side') return { ...firstControl.turn, text: question.sideText ?? '' };
    if (question.purpose === 'summary')
      return { ...summary, usedTokens: summary.usedTokens || turn.usedTokens };
    // the answer to what a tool has said is the plain one
    if (question.isAfterTool) return { ...turn, command: undefined };
    const [first, ...rest] = next;
    control = { ...control, next: rest };
    return { ...turn, ...first };
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const path = new URL(request.url ?? '/', 'http://mock').pathname;
    if (path === '/__state') return send(response, json(200, { control, asked }));
    if (path === '/__control') return send(response, controlled(change, body));
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
    await reply(response, { ...found, answer: take(question), id: String(asked.length) }, end);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready));
  return {
    port: (server.address() as AddressInfo).port,
    control: change,
    asked: () => asked,
    onChange: (next) => (listener = next),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const controlled = (change: (wanted: unknown) => Control, body: string): Wire => {
  try {
    return json(200, change(parseRecord(body)));
  } catch (error) {
    return json(400, { error: String(error) });
  }
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
  const { fault, waitMs, pieceMs } = answer;
  await pause(waitMs);
  if (response.destroyed) return;
  if (fault && fault.kind !== 'drop') {
    end('failed');
    return send(response, api.fail(failureOf(fault, api)));
  }
  const wire = api.answer(question, answer, id);
  head(response, wire);
  for (const [index, frame] of wire.frames.entries()) {
    if (response.destroyed) return;
    if (fault && index > 0) break;
    // until it is under way: a drop comes in the middle of the answer, not before it
    await new Promise<void>((written) => response.write(frame, () => written()));
    // with the last one the agent has its answer, and may leave
    if (pieceMs > 0 && index < wire.frames.length - 1) await pause(pieceMs);
  }
  if (fault) {
    end('dropped');
    response.destroy();
    return;
  }
  end('answered');
  response.end();
};

const head = (response: ServerResponse, { status, isStream }: Wire): void => {
  response.writeHead(status, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
};

const send = (response: ServerResponse, wire: Wire): void => {
  head(response, wire);
  response.end(wire.frames.join(''));
};
