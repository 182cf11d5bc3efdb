// Options of a training session, for tests that set only the options they are about.
import type { OpenSessionOptions } from '#engine/training-engine';

const FRESH: OpenSessionOptions = {
  from: null,
  lora: { rank: 4, alpha: 8, seed: 1 },
  resetOptimizer: false,
  headTokensMax: null,
};

export const aSession = (options: Partial<OpenSessionOptions> = {}): OpenSessionOptions => ({ ...FRESH, ...options });
