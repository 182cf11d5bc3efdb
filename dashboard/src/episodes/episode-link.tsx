// From a trajectory to the episode that it was.
import { Text } from '../ui/text.tsx';
import { episodeHref, episodeOf } from './addresses.ts';

/** Draws nothing if the trajectory was no episode. */
export function EpisodeLink({ metadata }: { metadata: Readonly<Record<string, unknown>> }) {
  const episode = episodeOf(metadata);
  return (
    episode && (
      <a class="small" href={episodeHref(episode.id)}>
        Episode <Text>{episode.name}</Text>
      </a>
    )
  );
}
