/** What a tool call put into the conversation, as far as the session file shows it. */
export interface ToolResult {
  /** the agent's name for the tool */
  readonly name: string;
  /** what it was about, on one line: a path, a command, a pattern; '' where the call does not show it */
  readonly label: string;
  /** estimated from the text */
  readonly tokens: number;
  readonly at: number;
}

/** Adds a result to the largest ones so far, the largest first, at most `most` of them. */
export const amongLargest = (
  largest: readonly ToolResult[],
  result: ToolResult,
  most: number,
): readonly ToolResult[] => {
  const smallest = largest[most - 1];
  if (result.tokens === 0 || (smallest && smallest.tokens >= result.tokens)) return largest;
  const place = largest.findIndex(({ tokens }) => tokens < result.tokens);
  return largest.toSpliced(place < 0 ? largest.length : place, 0, result).slice(0, most);
};
