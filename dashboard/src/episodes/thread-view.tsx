// The turns of one conversation, and beside each what branched off there.
import type { EpisodeCall, EpisodeWithCalls } from '../api/wire.ts';
import { counted } from '../ui/numbers.ts';
import type { Thread } from './call-threads.ts';
import { TurnView } from './turn-view.tsx';

interface ThreadViewProps {
  readonly episode: EpisodeWithCalls;
  readonly thread: Thread<EpisodeCall>;
  /** Of all calls that are shown, in order. */
  readonly ids: readonly string[];
}

export const ThreadView = ({ episode, thread, ids }: ThreadViewProps) => (
  <ol class="thread">
    {thread.map(({ call, number, branches }) => (
      <li key={call.id}>
        <TurnView
          episode={episode}
          call={call}
          number={number}
          before={ids[number - 2] ?? null}
          reward={episode.turn_rewards[call.answer_id] ?? null}
        />
        {branches.map((branch) => (
          <section key={branch[0]!.call.id} class="branch" aria-label={`Branch after turn ${number}`}>
            <h3>
              Branch after turn {number}, {counted(branch.length, 'turn')}
            </h3>
            <ThreadView episode={episode} thread={branch} ids={ids} />
          </section>
        ))}
      </li>
    ))}
  </ol>
);
