/** What the status of this process says. */
export const exitStatus = `The agent's own; 127 agent not found, 126 not executable, 125 ctxwrap failed before the agent ran,
2 wrong usage, or config check has found an error; 1 doctor or verify has found something that fails.`;
