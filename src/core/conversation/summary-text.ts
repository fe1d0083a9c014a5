import { SummaryError } from '../errors.js';
import { countCharacters, estimateTokens, tokensOfCharacters, type CharacterCounts } from '../reading.js';

// What a model has answered, as the text of a summary.

/** The longest answer, in estimated tokens. One that reaches it is not a summary, or its end is missing. */
export const MOST_SUMMARY_TOKENS = 20_000;

/** The error for an answer that has reached the limit. */
export const tooLongSummary = (): SummaryError =>
  new SummaryError(`the summary is longer than ${MOST_SUMMARY_TOKENS} tokens`);

/** Counts an answer while it arrives. */
export const makeAnswerCounter = (): { readonly add: (text: string) => void } => {
  let counts: CharacterCounts = { ascii: 0, wide: 0 };
  return {
    /** throws once the answer is too long */
    add: (text) => {
      const { ascii, wide } = countCharacters(text);
      counts = { ascii: counts.ascii + ascii, wide: counts.wide + wide };
      if (tokensOfCharacters(counts) >= MOST_SUMMARY_TOKENS) throw tooLongSummary();
    },
  };
};

/** The summary in an answer: without the model's scratchpad and without control characters. Throws if nothing is left, or too much. */
export const summaryIn = (answer: string): string => {
  if (estimateTokens(answer) >= MOST_SUMMARY_TOKENS) throw tooLongSummary();
  const summary = withoutScratchpad(withoutControls(answer)).trim();
  if (summary === '') throw new SummaryError('the summary is empty');
  return summary;
};

const ANALYSIS = /^Analysis:[ \t]*\n[^]*?\nSummary:[ \t]*\n/;

/**
 * A recorded summary from where it begins: without the analysis that the model has written before it, in tags or under a heading. All of it
 * where there is nothing else.
 */
export const withoutAnalysis = (text: string): string => {
  const rest = withoutScratchpad(text.replace(ANALYSIS, '')).trim();
  return rest === '' ? text : rest;
};

const SEQUENCES = new RegExp(String.raw`\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*\u0007?)`, 'g');
// line breaks and tabs stay, and the joiners that scripts and emoji need
const CONTROLS = /[^\P{Cc}\n\t]|[^\P{Cf}\u200c\u200d]|\p{Cs}/gu;

const withoutControls = (text: string): string =>
  text.replace(SEQUENCES, '').replace(/\r\n?/g, '\n').replace(CONTROLS, '');

const TAG = /<(\/?)(think|thinking|analysis|scratchpad)>/gi;

/**
 * Without what the model has written for itself: a block whose tag begins a line. Some models open the first block in the prompt, so that
 * only its end is in the answer; one that is never closed at the beginning is all there is. Tags within a line belong to the text.
 */
const withoutScratchpad = (text: string): string => {
  const kept: string[] = [];
  let from = 0; // of the text that is not decided yet
  let open: { readonly name: string; readonly at: number } | undefined;
  let isFirst = true;
  for (const { 0: tag, 1: slash, 2: written = '', index } of text.matchAll(TAG)) {
    const name = written.toLowerCase();
    const end = index + tag.length;
    if (slash === '') {
      if (!open && beginsLine(text, from, index)) open = { name, at: index };
      continue;
    }
    if (open?.name === name) {
      kept.push(text.slice(from, open.at));
      [from, open, isFirst] = [end, undefined, false];
    } else if (!open && isFirst && (beginsLine(text, from, index) || endsLine(text, end))) {
      [from, isFirst] = [end, false]; // it was opened in the prompt
    }
  }
  const isAllScratchpad =
    open !== undefined && text.slice(from, open.at).trim() === '' && kept.every(isBlank);
  return isAllScratchpad ? '' : kept.join('') + text.slice(from);
};

const isBlank = (text: string): boolean => text.trim() === '';

/** Only blanks stand before it in its line, or since `from`. */
const beginsLine = (text: string, from: number, at: number): boolean =>
  isBlank(text.slice(Math.max(from, text.slice(0, at).lastIndexOf('\n') + 1), at));

const endsLine = (text: string, at: number): boolean => {
  const end = text.indexOf('\n', at);
  return isBlank(text.slice(at, end < 0 ? undefined : end));
};
