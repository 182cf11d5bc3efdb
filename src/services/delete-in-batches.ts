// Deletes rows that are too old, a hundred at a time, so that no query and no list grows with what has piled up.

const BATCH = 100;

/**
 * `remove` must make its item no longer listed. Returns how many there were. Several servers may do so at once.
 *
 * Rows go before their bytes: what is left behind by a death in between are bytes that no row refers to, which doctor removes.
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
