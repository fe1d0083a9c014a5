/** How full the window is, in four steps. */
export type Tier = 'safe' | 'warn' | 'auto' | 'hard';
