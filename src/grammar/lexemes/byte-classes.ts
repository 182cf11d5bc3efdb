// Which bytes the terms made so far tell apart. Bytes that no set and no word distinguishes share a representative, so that a
// derivative is computed once for all of them. Does not know terms.
export class ByteClasses {
  representatives: readonly number[] = [0];
  private representative = new Uint8Array(256);
  private readonly isolated = new Set<number>();

  representativeOf(byte: number): number {
    return this.representative[byte]!;
  }

  /** From now on, bytes in the set and bytes outside it are told apart. */
  refine(has: (byte: number) => boolean): void {
    const next = new Uint8Array(256);
    const seen = new Map<number, number>();
    for (let byte = 0; byte < 256; byte++) {
      const key = this.representative[byte]! * 2 + (has(byte) ? 1 : 0);
      const first = seen.get(key);
      if (first === undefined) seen.set(key, byte);
      next[byte] = first ?? byte;
    }
    if (seen.size === this.representatives.length) return;
    this.representative = next;
    this.representatives = [...new Set(next)];
  }

  /** From now on, the byte is told apart from all others. */
  isolate(byte: number): void {
    if (this.isolated.has(byte)) return;
    this.isolated.add(byte);
    this.refine((other) => other === byte);
  }
}
