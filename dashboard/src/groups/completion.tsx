// One trajectory of a group as a column: its numbers, then its conversation. The conversation is loaded when the column comes into
// view, so that a group of hundreds opens at once.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLoad } from '../api/use-load.ts';
import { EpisodeLink } from '../episodes/episode-link.tsx';
import type { Shading } from '../tokens/tone.ts';
import { measured } from '../ui/numbers.ts';
import { Loaded } from '../ui/states.tsx';
import { Conversation } from './conversation.tsx';
import type { GroupPlace, TrainedTokens, Trajectory } from './group-data.ts';
import { SkipReason } from './skip-reason.tsx';

export interface Read {
  readonly trajectory: Trajectory;
  /** Null: nothing was trained on it, or that is not known yet. */
  readonly tokens: TrainedTokens | null;
}

export async function readBoth(place: GroupPlace, index: number, signal: AbortSignal): Promise<Read> {
  const [trajectory, tokens] = await Promise.all([
    place.loadTrajectory(index, signal),
    place.loadTokens?.(index, signal) ?? null,
  ]);
  return { trajectory, tokens };
}

interface CompletionProps {
  readonly place: GroupPlace;
  readonly group: number;
  readonly index: number;
  readonly reward: number;
  readonly advantage: number | null;
  readonly shading: Shading;
}

export function Completion({ place, group, index, reward, advantage, shading }: CompletionProps) {
  const column = useRef<HTMLElement>(null);
  const isSeen = useSeen(column);
  return (
    <article ref={column} class="completion" aria-label={`Trajectory ${index}, reward ${measured(reward)}`}>
      <header>
        <a href={place.hrefOf(group, index)} class="mono">
          #{index}
        </a>
        <span class="reward" title={`reward ${reward}`}>
          {measured(reward)}
        </span>
        {advantage !== null && <Advantage value={advantage} />}
      </header>
      {isSeen && <Body place={place} index={index} shading={shading} />}
    </article>
  );
}

function Body({ place, index, shading }: Pick<CompletionProps, 'place' | 'index' | 'shading'>) {
  const read = useLoad((signal) => readBoth(place, index, signal), [place.key, index]);
  return (
    <Loaded of={read}>
      {({ trajectory, tokens }) => (
        <>
          {tokens?.reason && <SkipReason reason={tokens.reason} />}
          <div class="completion-body" tabIndex={0} role="group" aria-label={`What trajectory ${index} says`}>
            <EpisodeLink metadata={trajectory.metadata} />
            <Conversation
              histories={trajectory.histories}
              sequences={tokens?.sequences ?? []}
              shading={shading}
              foldsPrompt
            />
          </div>
        </>
      )}
    </Loaded>
  );
}

export const Advantage = ({ value }: { value: number }) => (
  <span class={`advantage ${value > 0 ? 'up' : value < 0 ? 'down' : ''}`} title={`advantage ${value}`}>
    <span class="sr-only">advantage </span>
    {value > 0 ? '+' : ''}
    {measured(value)}
  </span>
);

/** True once the element has come into view, or close to it. */
function useSeen(element: { readonly current: HTMLElement | null }): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        setSeen(true);
        observer.disconnect();
      },
      { rootMargin: '200px' },
    );
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  return isSeen;
}
