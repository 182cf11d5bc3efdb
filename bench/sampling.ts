// What a sampler under test must do.

export interface Sampler {
  readonly name: string;
  /** Greedy, `newTokens` per prompt, all prompts at once. `firstTokenMs`: until the last of the first tokens. */
  generate(
    prompts: readonly (readonly number[])[],
    newTokens: number,
  ): Promise<{ tokens: number; firstTokenMs: number; totalMs: number }>;
  close(): Promise<void>;
}
