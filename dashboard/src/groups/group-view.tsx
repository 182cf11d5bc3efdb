// A group: its prompt and rewards, then the answers to that prompt side by side, best first; or one trajectory in full.
import type { ComponentChildren } from 'preact';
import { useLoad } from '../api/use-load.ts';
import { changeQuery, goTo, useAddress } from '../router.ts';
import { ShadingChoice } from '../tokens/shading-choice.tsx';
import { SHADINGS, type Shading } from '../tokens/tone.ts';
import { PageHead } from '../ui/page-head.tsx';
import { Loaded } from '../ui/states.tsx';
import { useKeys } from '../ui/use-keys.ts';
import { Completion } from './completion.tsx';
import type { Group, GroupPlace } from './group-data.ts';
import { GroupHead } from './group-head.tsx';
import { OneTrajectory } from './one-trajectory.tsx';

/** In the address: what the tokens are coloured by. */
export const SHADING = 'colours';

interface GroupViewProps {
  readonly place: GroupPlace;
  readonly group: number;
  /** Show only this trajectory; null: all. */
  readonly one: number | null;
  readonly crumbs: ComponentChildren;
  /** Whether the job has ended; null: there is no job, or its state is not known yet. */
  readonly hasEnded: boolean | null;
}

export function GroupView({ place, group, one, crumbs, hasEnded }: GroupViewProps) {
  const said = useAddress().query.get(SHADING);
  const shading = SHADINGS.find(({ id }) => id === said)?.id ?? 'logprob';
  const found = useLoad((signal) => place.loadGroup(signal), [place.key]);
  const hasNext = found.state === 'ready' && found.value.hasNext;
  const mayHaveNext = hasNext || found.state === 'loading';
  const count = found.state === 'ready' ? found.value.group.num_trajectories : 0;
  useKeys({
    j: mayHaveNext ? () => goTo(place.hrefOf(group + 1)) : undefined,
    k: group > 0 ? () => goTo(place.hrefOf(group - 1)) : undefined,
    l: one !== null && one + 1 < count ? () => goTo(place.hrefOf(group, one + 1)) : undefined,
    h: one !== null && one > 0 ? () => goTo(place.hrefOf(group, one - 1)) : undefined,
  });
  const title = one === null ? `Group ${group}` : `Group ${group}, trajectory ${one}`;
  const actions = (
    <nav class="row" aria-label="Groups">
      {one !== null && one > 0 && (
        <a class="button" href={place.hrefOf(group, one - 1)} title="key h">
          ← Answer {one - 1}
        </a>
      )}
      {one !== null && (
        <a class="button" href={place.hrefOf(group)}>
          All of the group
        </a>
      )}
      {one !== null && one + 1 < count && (
        <a class="button" href={place.hrefOf(group, one + 1)} title="key l">
          Answer {one + 1} →
        </a>
      )}
      {group > 0 && (
        <a class="button" href={place.hrefOf(group - 1)} title="key k">
          ← Previous group
        </a>
      )}
      {hasNext && (
        <a class="button" href={place.hrefOf(group + 1)} title="key j">
          Next group →
        </a>
      )}
    </nav>
  );
  const colours = place.loadTokens ? (
    <ShadingChoice value={shading} choose={(each) => changeQuery({ [SHADING]: each })} />
  ) : null;
  const choice = place.loadTokens ? shading : 'none';
  return (
    <>
      <PageHead title={title} crumbs={crumbs} actions={actions} />
      <Loaded of={found}>
        {({ group: read }) =>
          one === null ? (
            <>
              <GroupHead group={read} hasEnded={hasEnded} colours={colours} />
              <SideBySide place={place} read={read} shading={choice} />
            </>
          ) : (
            <OneTrajectory place={place} index={one} colours={colours} shading={choice} />
          )
        }
      </Loaded>
    </>
  );
}

function SideBySide({ place, read, shading }: { place: GroupPlace; read: Group; shading: Shading }) {
  return (
    <div class="completions" role="group" aria-label="Completions, best reward first" tabIndex={0}>
      {byReward(read.rewards).map((index) => (
        <Completion
          key={index}
          place={place}
          group={read.index}
          index={index}
          reward={read.rewards[index]!}
          advantage={read.advantages?.[index] ?? null}
          shading={shading}
        />
      ))}
    </div>
  );
}

/** Indexes, best first; equal ones keep their order. */
const byReward = (rewards: readonly number[]): number[] =>
  rewards.map((_, index) => index).sort((a, b) => rewards[b]! - rewards[a]!);
