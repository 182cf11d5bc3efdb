// When a group of episodes is complete: the rules of the model's online training, or those that hold where there is none.
import type { OnlineSettings } from '#domain/online-training';
import type { CompleteGroup } from '#storage/episode-store';

/** Rewards of fewer episodes cannot be compared. */
export const GROUP_SIZE_MIN = 2;

/** `step`: the latest. */
export const completeGroup = (
  { groupSizeMin, maxStaleness }: Pick<OnlineSettings, 'groupSizeMin' | 'maxStaleness'>,
  step: number,
): CompleteGroup => ({
  rewardedMin: groupSizeMin,
  ...(maxStaleness === null ? {} : { stepMin: step - maxStaleness }),
});
