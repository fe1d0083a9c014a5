// Answers of model servers as they come over the wire: cut anywhere, in the forms that servers use, and broken.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeChatAnswerReader } from '../../src/core/conversation/chat-answer.js';
import { SummaryError } from '../../src/core/errors.js';
import { runs } from '../support/runs.js';

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: unknown, finish: string | null = null): string =>
  data({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] });
const DONE = 'data: [DONE]\n\n';

/** The answer, or its error, when these bytes arrive in such pieces. */
const readIn = (pieces: readonly Uint8Array[]): string | SummaryError => {
  const [reader, decoder] = [makeChatAnswerReader(), new TextDecoder()];
  try {
    for (const piece of pieces) reader.push(decoder.decode(piece, { stream: true }));
    reader.push(decoder.decode());
    return reader.end();
  } catch (error) {
    if (error instanceof SummaryError) return error;
    throw error;
  }
};
const read = (wire: string): string | SummaryError => readIn([Buffer.from(wire)]);

const whole = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello 世界' }, finish_reason: 'stop' }],
};
const USAGE = data({ choices: [], usage: { total_tokens: 3 } });
const ROLE = data({
  choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
});
const THOUGHT = data({ choices: [{ index: 0, delta: { content: null, reasoning_content: 'Hm.' } }] });

const good: readonly (readonly [string, string])[] = [
  ['a stream', ROLE + delta('Hello ') + delta('世界') + delta('', 'stop') + USAGE + DONE],
  ['a stream with CRLF', (delta('Hello ') + delta('世界', 'stop')).replaceAll('\n', '\r\n') + DONE],
  ['a stream with CR', (delta('Hello ') + delta('世界') + DONE).replaceAll('\n', '\r')],
  ['a stream with comments', `: ping\n\n${delta('Hello ')}:\n\n: PROCESSING\n${delta('世界')}${DONE}`],
  [
    'a stream with other fields',
    `id: 1\nevent: message\nretry: 3\n${delta('Hello ')}data\n\n${delta('世界')}${DONE}`,
  ],
  ['a stream with a byte order mark', `\uFEFF${delta('Hello 世界', 'stop')}`],
  ['a stream without [DONE]', delta('Hello ') + delta('世界', 'stop')],
  ['a stream without a reason to finish', delta('Hello ') + delta('世界') + DONE],
  ['a stream without its last line ends', (delta('Hello ') + delta('世界', 'stop')).trimEnd()],
  [
    'a stream without blanks behind the colons',
    (delta('Hello ') + delta('世界') + DONE).replaceAll('data: ', 'data:'),
  ],
  [
    'a stream whose events have several lines',
    'data: {"choices":[{"delta":\ndata: {"content":"Hello 世界"}}]}\n\n' + DONE,
  ],
  ['a stream with thoughts', THOUGHT + delta('Hello 世界', 'stop')],
  [
    'a stream whose events have several lines, with CRLF',
    'data: {"choices":[{"delta":\r\ndata: {"content":"Hello 世界"}}]}\r\n\r\ndata: [DONE]\r\n\r\n',
  ],
  [
    'a stream with a second choice',
    data({ choices: [{ index: 1, delta: { content: 'no' } }] }) + delta('Hello 世界') + DONE,
  ],
  [
    'a stream with parts',
    delta([{ type: 'text', text: 'Hello ' }, { text: '世界' }, { type: 'image' }], 'stop'),
  ],
  [
    'a stream that goes on behind its end',
    delta('Hello 世界', 'stop') + delta(' and more') + 'data: nonsense\n\n',
  ],
  [
    'a stream whose errors are null',
    data({ error: null, choices: [{ delta: { content: 'Hello 世界' } }] }) + DONE,
  ],
  ['a document', JSON.stringify(whole)],
  ['a document over many lines', `\r\n ${JSON.stringify(whole, undefined, 2)}\n`],
];

const bad: readonly (readonly [string, string, string | RegExp])[] = [
  ['nothing', '', /broke off/],
  ['a stream that ends early', delta('Hello '), /broke off/],
  ['a stream that ends within an event', `${delta('Hello ')}data: {"choices":[{"del`, /cannot be read/],
  ['a document that ends early', JSON.stringify(whole).slice(0, -5), /cannot be read/],
  ['a document of another kind', '{"object":"list","data":[]}', /cannot be read/],
  ['words', 'Hello, I am a server.\n', /broke off/],
  ['a web page', '\n<!DOCTYPE html><html><body>502 Bad Gateway</body></html>', /web page/],
  ['a stream with nonsense', `${delta('Hello')}data: nonsense\n\n`, /cannot be read/],
  [
    'an answer that was cut off',
    delta('Hello ') + delta('', 'length') + DONE,
    'the summary is longer than 20000 tokens',
  ],
  ['an answer that was filtered', delta('Hello') + delta('', 'content_filter'), /filtered/],
  [
    'an error within the stream',
    delta('Hello') + data({ error: { message: 'out of memory' } }),
    /reported an error/,
  ],
  ['an error that is a word', data({ error: 'model crashed' }), /reported an error/],
  [
    'an error in place of an answer',
    '{"error":{"code":"context_length_exceeded"}}',
    'the text is too long for the model',
  ],
  ['an endless answer', delta('x'.repeat(1_000)).repeat(100), 'the summary is longer than 20000 tokens'],
  ['an endless line', `data: {"choices":[${' '.repeat(4 * 1024 * 1024)}`, /cannot be read/],
  ['an endless event', `data: ${'x'.repeat(99)}\n`.repeat(45_000), /cannot be read/],
  ['an endless document', `{"a":"${'x'.repeat(4 * 1024 * 1024)}`, /cannot be read/],
];

describe('the answer', () => {
  it.each(good)('is read from %s', (_, wire) => {
    expect(read(wire)).toBe('Hello 世界');
  });

  it.each(bad)('is refused in %s', (_, wire, reason) => {
    expect(read(wire)).toMatchObject({ message: expect.stringMatching(reason) });
  });

  it('does not depend on how its bytes are cut', () => {
    const wires = [...good, ...bad]
      .map(([, wire]) => Buffer.from(wire))
      .filter(({ length }) => length < 10_000);
    const cuts = fc.array(fc.nat({ max: 1_000 }), { maxLength: 20 });
    fc.assert(
      fc.property(fc.constantFrom(...wires), cuts, (wire, places) => {
        const at = [
          0,
          ...places.map((place) => place % (wire.length + 1)).toSorted((a, b) => a - b),
          wire.length,
        ];
        const pieces = at.slice(1).map((end, index) => wire.subarray(at[index], end));
        expect(readIn(pieces)).toEqual(readIn([wire]));
      }),
      runs(1_000),
    );
  });

  it.each(good)('is the same byte by byte from %s', (_, wire) => {
    expect(readIn([...Buffer.from(wire)].map((byte) => Uint8Array.of(byte)))).toBe('Hello 世界');
  });

  it('is complete with its last event, whatever the connection does then', () => {
    const reader = makeChatAnswerReader();
    reader.push(delta('Hello'));
    expect(reader.isComplete()).toBe(false);
    reader.push(DONE);
    expect(reader.isComplete()).toBe(true);
  });

  it.each([
    ['a role', ROLE, false],
    ['a comment', ': ping\n\n', false],
    ['a thought', THOUGHT, true],
    ['a word', delta('Hello'), true],
  ])('%s alone: the model has begun is %s', (_, wire, hasBegun) => {
    const reader = makeChatAnswerReader();
    reader.push(wire);
    expect(reader.hasBegun()).toBe(hasBegun);
  });

  it('says nothing of what a server has said', () => {
    const reader = makeChatAnswerReader();
    const wire = data({ error: { message: 'cannot answer "my secret plan"', type: 'secret' } });
    expect(() => reader.push(wire)).toThrow(/^(?!.*secret)/);
  });
});
