// Reads one call piece by piece: reports its name once it is known, and passes its arguments on as JSON text as they arrive. Each syntax has
// its own reader; none knows what surrounds the call.

export interface CallReader {
  /**
   * Reads on from `text[from]`; returns where it stopped: after the call, at an error in it, or, while it is reading, at the text that
   * it needs again with more text after it.
   */
  read(text: string, from: number): number;
  /** `broken`: it is not a call, or does not continue as one. */
  readonly state: 'reading' | 'done' | 'broken';
  /** Null until it is known to be the name of a call. */
  readonly name: string | null;
  /** Arguments read since the last time; empty while `name` is null. */
  takeArguments(): string;
  /** The answer has ended inside the call. `isStopped`: the model ended it, instead of being cut off. */
  end?(isStopped: boolean): void;
}
