// Memory limits under which every row of a fixture fits, so that rows depend only on the job.
import type { TrainingLimits } from '#engine/training-engine';

export const NO_LIMITS: TrainingLimits = {
  contextLength: 1024,
  rowLengthMax: 1024,
  memory: { budgetBytes: Infinity, fixedBytes: 0, bytesPerToken: 0, bytesPerPair: 0 },
};
