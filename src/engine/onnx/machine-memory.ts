// The memory that this process may have, and what training takes of it where nobody says.
import { totalmem } from 'node:os';

/** Of the machine, or of its container where that has a limit. */
export function machineMemory(): number {
  const constrained = process.constrainedMemory(); // 0, or beyond the machine's: no limit
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** The rest is for weights, sampling and everything else. */
const TRAINING_SHARE = 0.4;

/** Of one of so many trainers. */
export const trainingMemoryShare = (trainers: number, memoryBytes = machineMemory()): number =>
  Math.floor((memoryBytes * TRAINING_SHARE) / trainers);
