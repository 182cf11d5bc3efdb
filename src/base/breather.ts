// Long work in this process, in pieces: between them, requests are answered.

/** Awaited often; gives way to whatever waits when the work has held the process for that long. */
export function createBreather(everyMs = 10): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < everyMs) return;
    await new Promise((resolve) => setImmediate(resolve));
    sinceMs = performance.now();
  };
}
