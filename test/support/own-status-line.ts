/** Settings of Claude with a status line of the user's own. */
export const ownStatusLine = (command: string, more: Readonly<Record<string, unknown>> = {}) => ({
  statusLine: { type: 'command', command, ...more },
});
