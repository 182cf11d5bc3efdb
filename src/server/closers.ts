// What was opened, and closing it again in reverse. Knows nothing of what it closes.

export interface Closers {
  add(close: () => Promise<void>): void;
  /** Last opened, first closed; one that fails does not keep the others open. */
  closeAll(): Promise<void>;
}

export function createClosers(): Closers {
  const closers: (() => Promise<void>)[] = [];
  return {
    add: (close) => void closers.push(close),
    async closeAll() {
      const failures: unknown[] = [];
      for (let close = closers.pop(); close; close = closers.pop()) {
        await close().catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0) throw new AggregateError(failures, 'not everything could be closed');
    },
  };
}

export interface Closable {
  close(): Promise<void>;
}

/** If one fails, the others are closed before its error is thrown: nothing is left behind. */
export async function allOpened<T extends readonly (Closable | null)[]>(opening: {
  readonly [K in keyof T]: Promise<T[K]>;
}): Promise<T> {
  const settled = await Promise.allSettled<Closable | null>(opening);
  const failed = settled.find(({ status }) => status === 'rejected');
  if (!failed) return Promise.all(opening);
  for (const each of settled) if (each.status === 'fulfilled') await each.value?.close();
  throw failed.status === 'rejected' ? failed.reason : failed;
}
