// A deadline for a connection that sends nothing: it is renewed whenever something arrives, so it does not limit how long a large
// transfer takes.

export interface SilenceLimit {
  /** Aborts with the reason when nothing arrived for the whole limit. */
  readonly signal: AbortSignal;
  /** Passes on what arrives, and renews the deadline with each piece. */
  hear(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  end(): void;
}

export function limitSilence(
  ms: number,
  reason: Error = new DOMException(`Nothing arrived for ${ms / 1000} s.`, 'TimeoutError'),
): SilenceLimit {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(reason), ms);
  return {
    signal: silent.signal,
    async *hear(pieces) {
      for await (const piece of pieces) {
        timer.refresh();
        yield piece;
      }
    },
    end: () => clearTimeout(timer),
  };
}
