import type { Call, Entry } from '../conversation/conversation.js';

// An entry as text for a summariser. Long ones are cut in the middle: the beginning says what it is, the end how it came out.

const LONGEST = { prompt: 8_000, answer: 6_000, input: 1_500, output: 2_000 } as const; // characters

/** '' for what says nothing: thoughts, the agent's own additions. */
export const turnText = (entry: Entry): string => {
  switch (entry.kind) {
    case 'prompt':
      return labelled('User', entry.text, LONGEST.prompt);
    case 'answer':
      return labelled('Agent', entry.text, LONGEST.answer);
    case 'summary':
      return labelled('Summary', entry.text, Infinity);
    case 'call':
      return labelled(`Tool ${entry.name}`, inputText(entry), LONGEST.input);
    case 'result':
      return labelled(entry.isError ? 'Tool error' : 'Tool result', entry.output, LONGEST.output);
    case 'reasoning':
    case 'context':
    case 'notice':
    case 'compaction':
      return '';
  }
};

const inputText = ({ commands, input }: Call): string =>
  typeof input === 'string' ? input : (commands?.join('\n') ?? JSON.stringify(input) ?? '');

const labelled = (who: string, text: string, most: number): string => {
  const trimmed = text.trim();
  return trimmed === '' ? '' : `${who}: ${cutMiddle(trimmed, most)}`;
};

/** At most `most` characters and a note about the rest. */
const cutMiddle = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${text.slice(0, half)}\n[${text.length - 2 * half} characters left out]\n${text.slice(-half)}`;
};
