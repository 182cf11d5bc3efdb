// When a group of episodes is complete: the rules of the model's online training, or those that hold where there is none.
import type { OnlineSettings } from '#domain/online-training';
import type { GroupState, GroupsWanted } from '#storage/episode-store';

/** `step`: the latest. */
export const groupsThat = (
  state: GroupState,
  { groupSizeMin, maxStaleness }: Pick<OnlineSettings, 'groupSizeMin' | 'maxStaleness'>,
  step: number,
): GroupsWanted => ({
  state,
  rewardedMin: groupSizeMin,
  isTrainable: true,
  ...(maxStaleness === null ? {} : { stepMin: step - maxStaleness }),
});
