// Why an episode refuses something, in sentences that say what to do.
import { counted } from '#base/counted';
import { episodeNameProblem, isEpisodeId, type Episode, type EpisodeBounds, type EpisodeStatus } from '#domain/episode';
import { AppError } from '#domain/errors';
import type { EpisodeRefusal } from '#storage/episode-store';
import { tooMuch } from '../accounts/stored-bytes.ts';

const BUSY_RETRY_SECONDS = 10;
/** Unlike the other conflicts, this one passes. */
const AT_ONCE_SECONDS = 1;

const ENDED: Readonly<Record<EpisodeStatus, string>> = {
  open: 'is open',
  rewarded: 'has ended with a reward',
  trained: 'was used by a training job',
  expired: 'has expired, and its calls were deleted',
};

const conflict = (message: string, param?: string): AppError =>
  new AppError('episode_conflict', message, param === undefined ? {} : { param });

/** A call to an episode that takes none. */
export const ended = ({ name, status }: Episode): AppError =>
  conflict(`The episode \`${name}\` ${ENDED[status]}: it takes no more calls. Begin another one under another name.`);

/** A reward for an episode that takes none. */
export const notRewardable = ({ name, status, trainedBy }: Episode): AppError =>
  conflict(
    `The episode \`${name}\` ${ENDED[status]}${trainedBy === null ? '' : ` (${trainedBy})`}: its reward cannot be set any more. ${
      status === 'expired' ? 'Send the reward sooner, or raise --episode-days.' : 'Run the task again as a new episode.'
    }`,
  );

export const otherGroup = ({ name, groupName }: Episode, group: string): AppError =>
  conflict(
    `The episode \`${name}\` is in the group \`${groupName}\`, not \`${group}\`. Name that group, none, or another episode.`,
    'group',
  );

/** A base model's call begins no episode. */
export const notBegun = (name: string, model: string): AppError =>
  new AppError(
    'invalid_request',
    `There is no episode \`${name}\`, and \`${model}\` is not trained, so this call cannot begin one. Send the first call to a model registered with POST /v1/preview/models, or begin the episode with POST /v1/preview/episodes.`,
    { param: 'model' },
  );

/** Several models have an episode of this name. */
export const ambiguousName = (name: string, episodes: readonly Episode[], use: 'call' | 'read'): AppError =>
  conflict(
    `Several models have an episode \`${name}\`: ${episodes.map(({ id, modelId }) => `${id} of model ${modelId}`).join(', ')}. ${
      use === 'call' ? 'Give the judged episode a name of its own.' : 'Send model_id, or use the id.'
    }`,
    use === 'call' ? 'X-Whetstone-Episode' : 'model_id',
  );

export function notFound(named: string): AppError {
  const problem = isEpisodeId(named) ? null : episodeNameProblem(named);
  const what = problem === null ? 'a call that names it begins it' : `a name ${problem}`;
  return new AppError(
    'episode_not_found',
    `There is no episode \`${named.slice(0, 150)}\`. GET /v1/preview/episodes lists yours; ${what}.`,
  );
}

export function refusalOf(
  outcome: EpisodeRefusal | 'gone',
  name: string,
  { openMax, callsMax, tokensMax }: EpisodeBounds,
): AppError {
  switch (outcome) {
    case 'too_many_open':
      return new AppError(
        'too_many_requests',
        `The limit of ${counted(openMax, 'open episode')} is reached (WHETSTONE_EPISODES_MAX). Reward or delete some of them.`,
        { retryAfterSeconds: BUSY_RETRY_SECONDS },
      );
    case 'too_many_calls':
      return conflict(
        `The episode \`${name}\` has ${counted(callsMax, 'call')}, which is the limit (WHETSTONE_EPISODE_CALLS_MAX). Reward it, and begin another one.`,
      );
    case 'too_many_tokens':
      return conflict(
        `The episode \`${name}\` would have more than ${counted(tokensMax, 'token')}, which is the limit (WHETSTONE_EPISODE_TOKENS_MAX). Reward it, and begin another one.`,
      );
    case 'over_limit':
      return tooMuch(`The episode \`${name}\` is over the limit of stored bytes`);
    case 'no_model':
      return new AppError('model_not_found', 'The model was deleted.', { param: 'model' });
    case 'gone':
      return new AppError(
        'episode_conflict',
        `The episode \`${name}\` was deleted during this call. Repeat the call to begin it anew.`,
        { retryAfterSeconds: AT_ONCE_SECONDS },
      );
  }
}
