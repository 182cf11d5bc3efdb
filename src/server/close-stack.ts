// Closes what was opened, in reverse order. Does not know what it closes.

export interface CloseStack {
  add(close: () => Promise<void>): void;
  /** Closes the last opened first; a failure does not stop the others from being closed. */
  closeAll(): Promise<void>;
}

export function createCloseStack(): CloseStack {
  const opened: (() => Promise<void>)[] = [];
  return {
    add: (close) => void opened.push(close),
    async closeAll() {
      const failures: unknown[] = [];
      for (let close = opened.pop(); close; close = opened.pop()) {
        await close().catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0) throw new AggregateError(failures, 'not everything could be closed');
    },
  };
}
