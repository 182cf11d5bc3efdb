// A digest of all rows that the gradient steps of an RL job train. A saved state counts steps, which is meaningful only for the same rows:
// a trainer with another row limit, or a later version, may plan others and must not continue from that state (job-progress.ts). The
// memory layout of rows does not matter.
import { createHash } from 'node:crypto';
import { createYielder } from '#base/yield-to-loop';
import type { PackedRow } from '#training/packing';

/** In hex. */
export async function digestRows(rows: readonly Pick<PackedRow, 'members'>[]): Promise<string> {
  const hash = createHash('sha256');
  const yieldToLoop = createYielder();
  for (const { members } of rows) {
    hash.update(Uint32Array.of(members.length));
    for (const { tokens, trained, advantage, runAdvantages = [], weight } of members) {
      hash.update(Uint32Array.of(tokens.length)).update(tokens).update(trained);
      hash.update(Float64Array.of(advantage, weight, ...runAdvantages));
      await yieldToLoop();
    }
  }
  return hash.digest('hex');
}
