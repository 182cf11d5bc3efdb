// An empty list means the same as none.

export const nonEmpty = <T>(items: readonly T[] | null | undefined): readonly T[] | null =>
  items && items.length > 0 ? items : null;
