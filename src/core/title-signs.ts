/**
 * How an agent marks its title as long as it tells no states: a sign and a space before the name. It leaves the sign out as soon as a
 * terminal has answered that it understands agent states (OSC 7501).
 */
export interface TitleSigns {
  /** the usual one first */
  readonly sets: readonly SignSet[];
  /** milliseconds between two signs while it works */
  readonly frameMs: number;
  /** of what follows `OSC 7501;`: whether its title shows that it works; undefined for what says nothing of its own state */
  readonly isWorking: (told: string) => boolean | undefined;
}

export interface SignSet {
  readonly rest: string;
  /** in turns; one alone does not move */
  readonly busy: readonly [string, ...string[]];
}
