// Deletes expired rows, a hundred at a time, so that no query and no list grows with the backlog.

const BATCH = 100;

/**
 * `remove` must take its item out of the list. Returns the number of items. Several servers may do this at the same time.
 *
 * Rows go before their bytes: a crash in between leaves only bytes that no row refers to, which doctor removes.
 */
export async function deleteInBatches<T>(
  list: (limit: number) => Promise<readonly T[]>,
  remove: (item: T) => Promise<void>,
): Promise<number> {
  for (let deleted = 0; ;) {
    const batch = await list(BATCH);
    for (const item of batch) await remove(item);
    deleted += batch.length;
    if (batch.length < BATCH) return deleted;
  }
}
