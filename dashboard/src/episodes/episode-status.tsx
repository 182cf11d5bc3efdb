// The state of an episode: a word and a mark, which are clear without their colour.
import type { Episode } from '../api/wire.ts';

type Status = Episode['status'];

const MARKS: Readonly<Record<Status, string>> = { open: '○', rewarded: '●', trained: '◆', expired: '–' };

export const EPISODE_STATUSES = Object.keys(MARKS) as readonly Status[];

export const EpisodeStatus = ({ of: { status, outcome } }: { of: Pick<Episode, 'status' | 'outcome'> }) => (
  <span class={`episode-status ${status}`}>
    <span aria-hidden="true">{MARKS[status]}</span> {status}
    {outcome === 'failed' && ' (failed)'}
  </span>
);
