// What is known of an episode as a whole, and where it came from and went to.
import { useLoad } from '../api/use-load.ts';
import type { EpisodeWithCalls } from '../api/wire.ts';
import { KeyValues } from '../ui/facts.tsx';
import { readName } from '../ui/model-filter.tsx';
import { hrefTo } from '../router.ts';
import { Confirm } from '../ui/confirm.tsx';
import { compact, measured, whole } from '../ui/numbers.ts';
import { PageHead } from '../ui/page-head.tsx';
import { Text } from '../ui/text.tsx';
import { Tile, Tiles } from '../ui/tiles.tsx';
import { Ago } from '../ui/time.tsx';
import { EPISODES_PATH, findInJob } from './addresses.ts';
import { EpisodeStatus } from './episode-status.tsx';

interface EpisodeHeadProps {
  readonly episode: EpisodeWithCalls;
  readonly remove: () => Promise<void>;
}

export function EpisodeHead({ episode, remove }: EpisodeHeadProps) {
  const { id, name, group, model_id: model, metadata, metrics } = episode;
  const modelName = useLoad(() => readName(model), [model]);
  return (
    <>
      <PageHead
        crumbs={
          <>
            <a href={hrefTo('/models/{id}', { id: model })}>
              <Text>{modelName.state === 'ready' ? modelName.value : 'Model'}</Text>
            </a>
            <a href={hrefTo(EPISODES_PATH, { model })}>Episodes</a>
            {group !== null && (
              <a href={hrefTo(EPISODES_PATH, { model, group })}>
                <Text>{group}</Text>
              </a>
            )}
          </>
        }
        title={<Text>{name}</Text>}
        about={<code>{id}</code>}
        actions={
          <Confirm
            action="Delete episode"
            question={<p>The episode and its calls are deleted. What a job has trained stays trained.</p>}
            onConfirm={remove}
          />
        }
      />
      <Numbers of={episode} />
      {Object.keys({ ...metrics, ...metadata }).length > 0 && (
        <div class="panel episode-notes">
          <KeyValues values={{ ...metrics, ...metadata }} />
        </div>
      )}
    </>
  );
}

function Numbers({ of }: { of: EpisodeWithCalls }) {
  const turnRewards = Object.values(of.turn_rewards);
  return (
    <Tiles>
      <Tile label="State" note={of.rewarded_at === null ? <Ago at={of.created_at} /> : <Ago at={of.rewarded_at} />}>
        <EpisodeStatus of={of} />
      </Tile>
      <Tile
        label="Reward"
        note={turnRewards.length > 0 && `and ${measured(turnRewards.reduce((a, b) => a + b))} for turns`}
      >
        {measured(of.reward)}
      </Tile>
      <Tile label="Calls">{whole(of.call_count)}</Tile>
      <Tile label="Trained tokens" note={`of ${compact(of.token_count)} stored`}>
        {whole(of.trained_token_count)}
      </Tile>
      {of.trained_by !== null && (
        <Tile label="Trained by" note={<Group jobId={of.trained_by} episodeId={of.id} />}>
          <a href={hrefTo('/jobs/{id}', { id: of.trained_by })}>job {of.trained_by.slice(0, 8)}</a>
        </Tile>
      )}
    </Tiles>
  );
}

function Group({ jobId, episodeId }: { jobId: string; episodeId: string }) {
  const found = useLoad((signal) => findInJob(jobId, episodeId, signal), [jobId, episodeId]);
  if (found.state !== 'ready' || found.value === null) return null;
  const { group, index } = found.value;
  const href = hrefTo('/jobs/{id}/groups/{group}', { id: jobId, group, trajectory: index });
  return (
    <a href={href}>
      group {group}, trajectory {index}
    </a>
  );
}
