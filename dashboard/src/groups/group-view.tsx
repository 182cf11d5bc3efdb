// A group: its prompt and rewards, then the answers to that prompt side by side, best first; or one trajectory in full.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { useLoad } from '../api/use-load.ts';
import { goTo } from '../router.ts';
import { ShadingChoice } from '../tokens/shading-choice.tsx';
import type { Shading } from '../tokens/tone.ts';
import { PageHead } from '../ui/page-head.tsx';
import { Loaded } from '../ui/states.tsx';
import { Completion } from './completion.tsx';
import type { Group, GroupPlace } from './group-data.ts';
import { GroupHead } from './group-head.tsx';
import { OneTrajectory } from './one-trajectory.tsx';

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
  const [shading, setShading] = useState<Shading>('logprob');
  const found = useLoad((signal) => place.loadGroup(signal), [place.key]);
  const hasNext = found.state === 'ready' && found.value.hasNext;
  useNeighbours(place, group, hasNext || found.state === 'loading');
  const title = one === null ? `Group ${group}` : `Group ${group}, trajectory ${one}`;
  const actions = (
    <nav class="row" aria-label="Groups">
      {one !== null && <a class="button" href={place.hrefOf(group)}>All of the group</a>}
      {group > 0 && <a class="button" href={place.hrefOf(group - 1)} title="key k">← Previous</a>}
      {hasNext && <a class="button" href={place.hrefOf(group + 1)} title="key j">Next →</a>}
    </nav>
  ); // prettier-ignore
  const colours = place.loadTokens ? <ShadingChoice value={shading} choose={setShading} /> : null;
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

/** The keys j and k go to the next and the previous group, unless the user is typing. */
function useNeighbours(place: GroupPlace, group: number, hasNext: boolean): void {
  // A layout effect, so that a key pressed right after the page appears already applies to that page.
  useLayoutEffect(() => {
    const follow = ({ key, target, altKey, ctrlKey, metaKey }: KeyboardEvent) => {
      const isWriting = target instanceof HTMLElement && target.closest('input:not([type=radio]), textarea, select');
      if (isWriting || altKey || ctrlKey || metaKey) return;
      if (key === 'j' && hasNext) goTo(place.hrefOf(group + 1));
      if (key === 'k' && group > 0) goTo(place.hrefOf(group - 1));
    };
    addEventListener('keydown', follow);
    return () => removeEventListener('keydown', follow);
  }, [place, group, hasNext]);
}
