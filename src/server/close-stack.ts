// What was opened, and closing it again in reverse. Knows nothing of what it closes.

export interface CloseStack {
  add(close: () => Promise<void>): void;
  /** Last opened, first closed; one that fails does not keep the others open. */
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
