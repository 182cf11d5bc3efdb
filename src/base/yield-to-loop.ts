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
