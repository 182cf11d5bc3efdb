// The memory available to this process, and the default part of it for training.
import { totalmem } from 'node:os';

/** The machine's memory, or its container's if that is limited. */
export function machineMemory(): number {
  const constrained = process.constrainedMemory(); // 0 or more than the machine has: no limit
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** The rest is for weights, sampling and everything else. */
const TRAINING_SHARE = 0.4;

/** For one of this many trainers. */
export const trainingMemoryShare = (trainers: number, memoryBytes = machineMemory()): number =>
  Math.floor((memoryBytes * TRAINING_SHARE) / trainers);
