/** The built-in strategies, in a file of their own: the table of configuration keys is loaded at every start, their code is not. */
export const strategyNames = ['truncate', 'summarize', 'clustering'] as const;

export type StrategyName = (typeof strategyNames)[number];
