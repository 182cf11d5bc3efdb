// The interface of a sampler under test.

export interface SamplingTimes {
  /** Until every sequence has its first token: all prompts are computed. */
  readonly firstTokenMs: number;
  /** Tokens per second from then on. */
  readonly decodeRate: number;
}

/** Aggregates the arrival times of each prompt's tokens. */
export function createSamplingClock(): { token(prompt: number): void; times(): SamplingTimes } {
  const started = performance.now();
  const seen = new Set<number>();
  const cameAtMs: number[] = [];
  let firstTokenMs = 0;
  return {
    token(prompt) {
      const ms = performance.now() - started;
      cameAtMs.push(ms);
      if (!seen.has(prompt)) firstTokenMs = ms;
      seen.add(prompt);
    },
    times() {
      const decoded = cameAtMs.filter((ms) => ms > firstTokenMs).length;
      return { firstTokenMs, decodeRate: (decoded / (cameAtMs.at(-1)! - firstTokenMs)) * 1000 };
    },
  };
}

export interface Sampler {
  readonly name: string;
  /** Greedy, `newTokens` per prompt, all prompts at once. */
  generate(prompts: readonly (readonly number[])[], newTokens: number): Promise<SamplingTimes>;
  close(): Promise<void>;
}
