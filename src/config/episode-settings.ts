// What an entity may keep as episodes, and for how long.
import { setting } from './setting.ts';
import { integer } from './value-types.ts';

export const EPISODE_SETTINGS = {
  episodeDays: setting({
    flag: '--episode-days <days>',
    variable: 'WHETSTONE_EPISODE_DAYS',
    value: integer(1, 36_500),
    default: 30,
    help: 'an episode without a call, a reward or a job for this many days expires: its calls are deleted. The same time later it is deleted',
    reason: 'weights of a month ago are too old to train from; the calls contain what users wrote',
  }),
  episodesMax: setting({
    variable: 'WHETSTONE_EPISODES_MAX',
    value: integer(1, 10_000_000),
    default: 10_000,
    help: 'maximum number of open episodes of one entity; the next one is refused with 429',
    reason: 'a hundred groups of a hundred; more are episodes whose reward never comes',
  }),
  episodeCallsMax: setting({
    variable: 'WHETSTONE_EPISODE_CALLS_MAX',
    value: integer(1, 100_000),
    default: 2_000,
    help: 'maximum number of calls of one episode',
    reason: 'a coding agent makes hundreds; each is compared with all earlier ones',
  }),
  episodeTokensMax: setting({
    variable: 'WHETSTONE_EPISODE_TOKENS_MAX',
    value: integer(1, 1_000_000_000),
    default: 4_000_000,
    help: 'maximum number of stored tokens of one episode; tokens that calls share count once',
    reason: '16 to 32 MB, read as a whole when the episode is trained',
  }),
};
