import type { Step } from './script.js';
import { lastPrompt, prompts } from './talk.js';

const ask = (text: string): readonly Step[] => [
  { step: 'key', key: 'ctrl-u' }, // whatever somebody typed besides must not become part of the prompt
  { step: 'type', text, everyMs: 45 },
  { step: 'wait', ms: 350 },
  { step: 'key', key: 'enter' },
];

const answered: readonly Step[] = [
  { step: 'wait', until: 'idle' },
  { step: 'wait', ms: 1300 },
];

const approve: readonly Step[] = [
  { step: 'wait', until: 'dialog' },
  { step: 'wait', ms: 1800 },
  { step: 'key', key: 'enter' },
];

/** The minute that `ctxwrap demo` shows: eight turns up to hard, a compaction, one more turn, goodbye. */
export const story: readonly Step[] = [
  { step: 'wait', ms: 1500 },
  ...prompts.flatMap((prompt) => [
    ...ask(prompt),
    ...(prompt.startsWith('run ') ? approve : []),
    ...answered,
  ]),
  ...ask('/compact'),
  ...answered,
  ...ask(lastPrompt),
  ...answered,
  { step: 'wait', ms: 3000 },
  ...ask('/quit'),
];
