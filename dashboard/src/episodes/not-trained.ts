// Why the tokens of a call are not trained, or what of its sampling differed from the model's own, in a sentence.
import type { EpisodeCall } from '../api/wire.ts';

type Counted = Pick<EpisodeCall, 'trained' | 'cut' | 'policy_step' | 'reshaped_by'>;

/** Null: it is trained, as it was sampled. */
export function notTrainedBecause({ trained, cut, policy_step: step, reshaped_by: by }: Counted): string | null {
  if (cut) return 'The answer was cut off before its end (the client left, or the engine failed). It is not trained.';
  if (!trained && step === null) return 'Another model answered: its tokens are not trained.';
  if (!trained) return 'The request asked for it with X-Whetstone-Train: false.';
  if (by.length > 0) return `Trained although ${by.join(', ')} made sampling differ from the model’s own distribution.`;
  return null;
}
