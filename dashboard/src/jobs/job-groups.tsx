// The groups that a job received: the prompt, the rewards of the answers, what was skipped and why.
import { useState } from 'preact/hooks';
import { listPages } from '../api/pages.ts';
import { useLoad } from '../api/use-load.ts';
import type { JobGroup } from '../api/wire.ts';
import { KeyValues } from '../ui/facts.tsx';
import { hrefTo } from '../router.ts';
import { measured, whole } from '../ui/numbers.ts';
import { Section } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { RewardDots } from './reward-dots.tsx';

const GROUPS_SHOWN = 100;

export function JobGroups({ jobId, isOver }: { jobId: string; isOver: boolean }) {
  const [max, setMax] = useState(GROUPS_SHOWN);
  const groups = useLoad(
    async (signal) => {
      const rows: JobGroup[] = [];
      const path = { training_job_id: jobId };
      for await (const page of listPages('/v1/preview/training-jobs/{training_job_id}/groups', { path, signal })) {
        rows.push(...page);
        if (rows.length > max) break;
      }
      return rows;
    },
    [jobId],
    { version: `${max} ${isOver}` },
  );
  return (
    <Section title="Groups">
      <Loaded of={groups}>
        {(rows) => (
          <>
            {rows.length === 0 ? (
              <Empty title="The job has no groups" />
            ) : (
              <Table
                label="Groups"
                rows={rows.slice(0, max)}
                keyOf={({ id }) => id}
                columns={columnsOf(jobId)}
                isPart={rows.length > max}
              />
            )}
            {rows.length > max && (
              <div class="row pager">
                <span class="muted small">The first {whole(max)} groups; there are more.</span>
                <button type="button" onClick={() => setMax(max + 10 * GROUPS_SHOWN)}>
                  More groups
                </button>
              </div>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

const columnsOf = (jobId: string): readonly Column<JobGroup>[] => [
  {
    title: 'Group',
    align: 'right',
    cell: ({ index }) => <a href={hrefTo('/jobs/{id}/groups/{group}', { id: jobId, group: index })}>{index}</a>,
    sortBy: ({ index }) => index,
  },
  {
    title: 'Prompt',
    cell: ({ prompt, metadata }) => (
      <div class="prompt-cell">
        <Text>{prompt ?? '–'}</Text>
        <KeyValues values={metadata} />
      </div>
    ),
    isWide: true,
  },
  {
    title: 'Answers',
    align: 'right',
    cell: ({ num_trajectories: count }) => count,
    sortBy: (row) => row.num_trajectories,
  },
  {
    title: 'Reward',
    align: 'right',
    cell: (row) => measured(mean(row.rewards)),
    sortBy: (row) => mean(row.rewards) ?? -Infinity,
  },
  {
    title: 'Rewards',
    cell: ({ rewards, index }) => <RewardDots rewards={rewards} label={`Rewards of group ${index}`} />,
  },
  { title: 'Advantages', align: 'right', cell: ({ advantages }) => rangeOf(advantages) },
  { title: 'Skipped', cell: skippedOf, sortBy: (row) => Object.values(row.skipped ?? {}).reduce((a, b) => a + b, 0) },
];

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

function rangeOf(advantages: JobGroup['advantages']) {
  if (advantages === null || advantages.length === 0) return '–';
  const [low, high] = [Math.min(...advantages), Math.max(...advantages)];
  return low === high ? measured(low) : `${measured(low)} … ${measured(high)}`;
}

function skippedOf({ skipped }: JobGroup) {
  const reasons = Object.entries(skipped ?? {}).filter(([, count]) => count > 0);
  if (reasons.length === 0) return <span class="muted">–</span>;
  return reasons.map(([reason, count]) => `${count} ${reason.replaceAll('_', ' ')}`).join(', ');
}
