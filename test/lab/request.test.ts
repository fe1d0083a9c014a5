// The reader of requests finds what a model's server refuses, in each API.
import { describe, expect, it } from 'vitest';
import { orphanIn, partsIn } from './request.js';

type Parts = readonly object[];

/** The parts of a request, and how a body holds them. */
interface Form {
  readonly api: string;
  readonly said: object;
  readonly call: object;
  readonly result: object;
  readonly body: (parts: Parts) => object;
}

const forms: readonly Form[] = [
  {
    api: 'anthropic',
    said: { role: 'user', content: 'go on' },
    call: { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Bash', input: {} }] },
    result: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ran' }] },
    body: (messages) => ({ messages }),
  },
  {
    api: 'responses',
    said: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go on' }] },
    call: { type: 'function_call', call_id: 'a', name: 'exec_command', arguments: '{}' },
    result: { type: 'function_call_output', call_id: 'a', output: 'ran' },
    body: (input) => ({ input }),
  },
  {
    api: 'google',
    said: { role: 'user', parts: [{ text: 'go on' }] },
    call: { role: 'model', parts: [{ functionCall: { name: 'run_shell_command', args: {} } }] },
    result: { role: 'user', parts: [{ functionResponse: { name: 'run_shell_command', response: {} } }] },
    body: (contents) => ({ contents }),
  },
  {
    api: 'chat',
    said: { role: 'user', content: 'go on' },
    call: { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'run', arguments: '{}' } }] },
    result: { role: 'tool', tool_call_id: 'a', content: 'ran' },
    body: (messages) => ({ messages }),
  },
];

describe.each(forms)('a request of the API $api', ({ api, said, call, result, body }) => {
  const orphan = (...parts: Parts): string | undefined => orphanIn(partsIn(api, JSON.stringify(body(parts))));

  it('with each call before its result is whole', () => {
    expect(orphan(said, call, result, said)).toBeUndefined();
    expect(partsIn(api, JSON.stringify(body([said, call, result]))).map(({ kind }) => kind)).toEqual([
      'user',
      'call',
      'result',
    ]);
  });

  it.each([
    ['no result at its end', [said, call], /has no result/],
    ['no result before the next message', [call, said, result], /has no result before "go on"/],
    ['no call', [said, result], /a tool result without its call/],
    ['a second result', [call, result, result], /a tool result without its call/],
  ])('with %s is not', (_, parts, reason) => {
    expect(orphan(...parts)).toMatch(reason);
  });
});
