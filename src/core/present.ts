/** Fields that may be undefined become optional ones. */
export type Present<Fields> = {
  readonly [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key];
} & {
  readonly [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<
    Fields[Key],
    undefined
  >;
};

/** The fields without those that are undefined: an optional field of ours is absent, never undefined. */
export const present = <const Fields extends object>(fields: Fields): Present<Fields> => {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) kept[key] = value;
  return kept as Present<Fields>;
};
