/** Writes a summary of `text` as `instructions` say. Rejects with a SummaryError whose message is a sentence without a full stop. */
export type Summarise = (
  request: { readonly instructions: string; readonly text: string },
  signal: AbortSignal,
) => Promise<string>;
