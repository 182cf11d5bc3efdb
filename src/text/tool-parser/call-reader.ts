// One call, read piece by piece: says its name once that is known, and passes its arguments on as JSON text while they come.
// Each syntax has a reader of its own; none knows what stands around the call.

export interface CallReader {
  /**
   * Reads on from `text[from]`; returns where it stopped: behind the call, at what breaks it, or, while it is reading, at what it
   * must see again with more behind it.
   */
  read(text: string, from: number): number;
  /** `broken`: it is no call, or it does not go on as one. */
  readonly state: 'reading' | 'done' | 'broken';
  /** Null until it is known, and known to be the name of a call. */
  readonly name: string | null;
  /** What has been read of the arguments since the last time; empty while `name` is null. */
  takeArguments(): string;
}
