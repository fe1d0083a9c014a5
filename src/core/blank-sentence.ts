/** What is said in place of the numbers, for the note that the footer shows (`waiting for the first turn`). */
export const blankSentence = (note: string | undefined): string => {
  switch (note) {
    case undefined:
    case 'waiting for the first turn':
      return 'No answer yet: the agent says how full the window is with its first one.';
    case 'size pending':
      return 'The last number is void after a compaction, and the next answer brings a new one.';
    default:
      return `There is no number: ${note}.`;
  }
};
