// Ids in the order in which they came, as a state of a reader: one more costs the same however many there are.

/** The last one, and those before it; undefined for none. */
export type IdList = { readonly id: string; readonly before: IdList; readonly count: number } | undefined;

export const withId = (list: IdList, id: string): IdList => ({
  id,
  before: list,
  count: (list?.count ?? 0) + 1,
});

export const idListOf = (ids: readonly string[]): IdList => ids.reduce<IdList>(withId, undefined);

/** Without the last ones, so many of them. */
export const withoutLast = (list: IdList, count: number): IdList => {
  let left = list;
  for (let rest = count; rest > 0 && left; rest -= 1) left = left.before;
  return left;
};

/** From the first one on. */
export const idsIn = (list: IdList): readonly string[] => {
  const ids: string[] = [];
  for (let each = list; each; each = each.before) ids.push(each.id);
  return ids.reverse();
};
