// Splits long work in this process into pieces, between which the event loop answers requests.

/** Returns a function to await often. It yields to the event loop once the work has held it for `everyMs`. */
export function createYielder(everyMs = 10): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < everyMs) return;
    await new Promise((resolve) => setImmediate(resolve));
    sinceMs = performance.now();
  };
}

/**
 * For work of many callers who do not know each other. Returns a function to call before each piece: null, or a promise to await once the
 * pieces of this turn of the event loop have held it for `everyMs` together. Whoever has waited asks again.
 */
export function createSharedTurn(everyMs = 10): () => Promise<void> | null {
  let turn: { readonly sinceMs: number; readonly over: Promise<void> } | null = null;
  return () => {
    turn ??= {
      sinceMs: performance.now(),
      over: new Promise((resolve) => {
        setImmediate(() => {
          turn = null;
          resolve();
        });
      }),
    };
    return performance.now() - turn.sinceMs < everyMs ? null : turn.over;
  };
}
