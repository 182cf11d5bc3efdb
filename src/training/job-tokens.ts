// Limits how many tokens a job may become. A small body can become many: if the template rewrites earlier turns, every turn is a sequence
// that repeats the conversation before it.
import { AppError } from '#domain/errors';

/** About 450 MB: 9 bytes per token. */
const JOB_TOKENS_MAX = 50_000_000;

/** Counts the tokens of a job's sequences; throws `invalid_training_data` if there are too many. */
export function createTokenLimit(tokensMax = JOB_TOKENS_MAX): (count: number) => void {
  let total = 0;
  return (count) => {
    total += count;
    if (total <= tokensMax) return;
    throw new AppError(
      'invalid_training_data',
      `This job has more than ${tokensMax} tokens (a turn whose prompt does not continue the previous one counts with its whole prompt). Split its data into several jobs.`,
    );
  };
}
