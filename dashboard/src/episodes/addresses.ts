// Addresses of the pages of episodes, and where else an episode is shown: in a group of the job that used it.
import { send } from '../api/client.ts';
import { readJsonLines } from '../api/json-lines.ts';
import { hrefTo } from '../router.ts';

export const EPISODES_PATH = '/episodes';
export const EPISODE_PATH = '/episodes/{id}';

/** What the list shows, in its address: ids of a model and of the job that used them, a group, a state, rewards, a text. */
const CHOICES = ['model', 'group', 'status', 'min', 'max', 'job', 'search'] as const;

/** '': all. */
export type EpisodeChoices = Readonly<Record<(typeof CHOICES)[number], string>>;

export const episodeChoicesOf = (query: URLSearchParams): EpisodeChoices =>
  Object.fromEntries(CHOICES.map((name) => [name, query.get(name) ?? ''])) as EpisodeChoices;

export const episodeHref = (id: string): string => hrefTo(EPISODE_PATH, { id });

/** The episode that a rollout of a job was; null: it was none. The server notes it in the metadata. */
export function episodeOf(metadata: Readonly<Record<string, unknown>>): { id: string; name: string } | null {
  const { episode_id: id, episode: name } = metadata;
  return typeof id === 'string' && typeof name === 'string' ? { id, name } : null;
}

export interface InJob {
  readonly group: number;
  readonly index: number;
}

/** Where the job has the episode among its trajectories; null: nowhere. */
export async function findInJob(jobId: string, episodeId: string, signal: AbortSignal): Promise<InJob | null> {
  const path = { training_job_id: jobId };
  const query = { view: 'summary', search: episodeId } as const;
  const { body } = await send('get', '/v1/preview/training-jobs/{training_job_id}/trajectories', {
    path,
    query,
    signal,
  });
  for await (const rows of readJsonLines<InJob & { readonly metadata: Readonly<Record<string, unknown>> }>(body!)) {
    const found = rows.find(({ metadata }) => episodeOf(metadata)?.id === episodeId);
    if (found) return found;
  }
  return null;
}
