import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { parseRecord } from '../../core/json.js';
import { anthropic } from './anthropic.js';
import { json, replyOf, type Answer, type Api, type Purpose, type Question, type Wire } from './api.js';
import { chat } from './chat.js';
import { google } from './google.js';
import { responses } from './responses.js';

// A model server on the loopback device that speaks four APIs and does as it is told.

const apis: readonly Api[] = [anthropic, responses, google, chat];

const SAID_LENGTH = 200; // characters of what was said that are kept

type End = 'answered' | 'failed' | 'dropped' | 'left by the agent';

/** A request of an agent, and what became of it. */
export interface Asked {
  readonly api: string;
  readonly purpose: Purpose | 'unknown';
  readonly path: string;
  readonly said: string;
  /** milliseconds since 1970 */
  readonly at: number;
  /** what is said first counts */
  end?: End;
}

/** What is different from now on; `error: undefined` takes one back. */
export interface Change {
  readonly turn?: Partial<Answer>;
  /** of a question for a summary: an agent that compacts */
  readonly summary?: Partial<Answer>;
  /** what is different in the next turns, one each */
  readonly next?: readonly Partial<Answer>[];
}

export interface Mock {
  readonly port: number;
  /** what it answers from now on */
  readonly control: (change: Change) => void;
  readonly asked: () => readonly Asked[];
  readonly close: () => void;
}

const QUICK = { outputTokens: 20, pieces: 1, waitMs: 0, thinkMs: 0, spreadMs: 0 };
const USUAL_TURN: Answer = { ...QUICK, text: 'Hello from the model.', usedTokens: 5_000 };
// The tags are those that Claude, Gemini and Qwen look for; Codex takes any text.
const SUMMARY = `<analysis>The user said hello.</analysis>
<summary>1. Primary Request: to say hello.</summary>
<state_snapshot><overall_goal>To say hello.</overall_goal></state_snapshot>`;

/** What it is told to answer, and what it takes of that for a question. */
const makeOrders = () => {
  let turn = USUAL_TURN;
  let summary: Answer = { ...QUICK, text: SUMMARY, usedTokens: 0 };
  const next: Partial<Answer>[] = [];
  return {
    change: (wanted: Change): void => {
      turn = { ...turn, ...wanted.turn };
      summary = { ...summary, ...wanted.summary };
      next.push(...(wanted.next ?? []));
    },
    take: ({ purpose, sideText, isAfterTool }: Question): Answer => {
      if (purpose === 'side') return { ...USUAL_TURN, text: sideText };
      if (purpose === 'summary') return { ...summary, usedTokens: summary.usedTokens || turn.usedTokens };
      // the answer to what a tool has said is the plain one
      return isAfterTool ? { ...turn, command: undefined } : { ...turn, ...next.shift() };
    },
  };
};

export const startMock = async (): Promise<Mock> => {
  const { change, take } = makeOrders();
  const asked: Asked[] = [];
  const note = (what: Omit<Asked, 'at' | 'end'>): ((end: End) => void) => {
    const one: Asked = { ...what, at: Date.now() };
    asked.push(one);
    return (end) => void (one.end ??= end);
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = parseRecord(await text(request));
    const path = new URL(request.url ?? '/', 'http://mock').pathname;
    for (const api of apis) {
      const question = body && api.read(path, body);
      if (!question) continue;
      const { purpose, said } = question;
      const end = note({ api: api.name, purpose, path, said: said.slice(-SAID_LENGTH) });
      response.once('close', () => end('left by the agent'));
      const answer = take(question);
      const wire = answer.error?.(api.name) ?? api.write(replyOf(question, answer, String(asked.length)));
      return answerWith(wire, { response, question, answer, ping: api.ping, end });
    }
    note({ api: '', purpose: 'unknown', path, said: '' })('failed');
    // lists of models are looked at by agents that do without them
    const status = path.endsWith('/models') ? 200 : 404;
    return send(response, json(status, { object: 'list', data: [], models: [] }));
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    port: (server.address() as AddressInfo).port,
    control: change,
    asked: () => asked,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

interface Asking {
  readonly response: ServerResponse;
  readonly question: Question;
  readonly answer: Answer;
  readonly ping: string | undefined;
  readonly end: (how: End) => void;
}

const answerWith = async (wire: Wire, asking: Asking): Promise<void> => {
  const { response, question, answer, ping, end } = asking;
  const { waitMs, thinkMs, spreadMs, error, isCut = false } = answer;
  await pause(question.isStreamed ? waitMs : waitMs + thinkMs + spreadMs);
  if (response.destroyed) return;
  if (error) {
    end('failed');
    return send(response, wire);
  }
  head(response, wire);
  // until it is under way: an answer is cut in its middle, not before it
  const write = (part: string): Promise<void> =>
    new Promise((written) => response.write(part, () => written()));
  await write(wire.opening.join(''));
  if (wire.isStream) await think(response, thinkMs, ping);
  const { pieces } = wire;
  const sent = isCut ? pieces.slice(0, Math.ceil(pieces.length / 2)) : pieces;
  for (const [index, piece] of sent.entries()) {
    if (index > 0 && spreadMs > 0) await pause(spreadMs / (pieces.length - 1));
    if (response.destroyed) return;
    await write(piece);
  }
  // with the last of it the agent has its answer, and may leave
  end(isCut ? 'dropped' : 'answered');
  if (isCut) response.destroy();
  else response.end(wire.closing.join(''));
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
