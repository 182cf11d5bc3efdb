// One episode: what it was worth, and its calls as trees of turns.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { EpisodeCall, EpisodeWithCalls } from '../api/wire.ts';
import { EPISODES_PATH } from '../episodes/addresses.ts';
import { EpisodeHead } from '../episodes/episode-head.tsx';
import { ThreadView } from '../episodes/thread-view.tsx';
import { threadsOf } from '../episodes/call-threads.ts';
import { useState } from 'preact/hooks';
import { goTo, hrefTo, type PageProps } from '../router.ts';
import { whole } from '../ui/numbers.ts';
import { Section } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';

const CALLS_SHOWN = 100;
const REFRESH_MS = 5_000;

export function EpisodePage({ params }: PageProps) {
  const id = params['id']!;
  const [max, setMax] = useState(CALLS_SHOWN);
  const found = useLoad((signal) => readEpisode(id, max, signal), [id], {
    version: String(max),
    everyMs: REFRESH_MS,
    isLast: ({ episode }) => episode.status !== 'open',
  });
  const remove = async () => {
    await call('delete', '/v1/preview/episodes/{episode}', { path: { episode: id } });
    goTo(hrefTo(EPISODES_PATH));
  };
  return (
    <Loaded of={found} page="Episode">
      {({ episode, calls }) => (
        <>
          <EpisodeHead episode={episode} remove={remove} />
          <Calls episode={episode} calls={calls} />
          {calls.length < episode.call_count && calls.length > 0 && (
            <div class="row pager">
              <button type="button" onClick={() => setMax(max + 5 * CALLS_SHOWN)}>
                More turns
              </button>
              <span class="muted small">
                {whole(calls.length)} of {whole(episode.call_count)} are shown
              </span>
            </div>
          )}
        </>
      )}
    </Loaded>
  );
}

function Calls({ episode, calls }: { episode: EpisodeWithCalls; calls: readonly EpisodeCall[] }) {
  if (calls.length === 0)
    return episode.status === 'expired' ? (
      <Empty title="The calls of this episode have expired">Its reward and numbers are kept for a while longer.</Empty>
    ) : (
      <Empty title="No calls yet">They appear here as the agent makes them.</Empty>
    );
  const ids = calls.map(({ id }) => id);
  const threads = threadsOf(calls);
  return threads.map((thread, at) => (
    <Section
      key={thread[0]!.call.id}
      title={threads.length === 1 ? 'Conversation' : `Conversation ${at + 1} of ${threads.length}`}
    >
      <ThreadView episode={episode} thread={thread} ids={ids} />
    </Section>
  ));
}

/** With its first calls, `max` of them or a few more. */
async function readEpisode(id: string, max: number, signal: AbortSignal) {
  const calls: EpisodeCall[] = [];
  for (;;) {
    const after = calls.at(-1)?.id;
    const query = { limit: CALLS_SHOWN, ...(after === undefined ? {} : { after }) };
    const episode = await call('get', '/v1/preview/episodes/{episode}', { path: { episode: id }, query, signal });
    calls.push(...episode.calls);
    if (!episode.has_more || episode.calls.length === 0 || calls.length >= max) return { episode, calls };
  }
}
