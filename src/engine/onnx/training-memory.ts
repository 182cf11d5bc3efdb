// What training takes of this machine where nobody says.
import { totalmem } from 'node:os';

/** Of the machine's memory, or what its container may use: the rest is for weights, sampling and everything else. */
const MEMORY_SHARE = 0.4;

/** Of one of so many trainers. */
export function trainingMemoryShare(trainers: number): number {
  const constrained = process.constrainedMemory(); // 0, or beyond the machine's: no limit
  const total = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.floor((total * MEMORY_SHARE) / trainers);
}
