// Opens several things concurrently: all of them or none.

export interface Closable {
  close(): Promise<void>;
}

/** If one fails, the others are closed before its error is thrown. */
export async function allOpened<T extends readonly (Closable | null)[]>(opening: {
  readonly [K in keyof T]: Promise<T[K]>;
}): Promise<T> {
  const settled = await Promise.allSettled<Closable | null>(opening);
  const failed = settled.find(({ status }) => status === 'rejected');
  if (!failed) return Promise.all(opening);
  for (const each of settled) if (each.status === 'fulfilled') await each.value?.close();
  throw failed.status === 'rejected' ? failed.reason : failed;
}
