// Null counts as absent in rows and metrics: data sets with columns write it in those that a row does not have. Not within arguments, schemas and
// variables, where it is a value.

/** One object, not what is below it. */
export const withoutNulls = (value: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
