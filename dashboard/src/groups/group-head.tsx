// What the trajectories of a group have in common: the prompt, the distribution of rewards, the client's metadata, and what was skipped.
import type { ComponentChildren } from 'preact';
import { compact, counted, measured } from '../ui/numbers.ts';
import { Text } from '../ui/text.tsx';
import { Facts, KeyValues } from '../ui/facts.tsx';
import type { Group } from './group-data.ts';
import { HistogramChart } from './histogram-chart.tsx';
import { SkippedList } from './skip-reason.tsx';

interface GroupHeadProps {
  readonly group: Group;
  /** Whether the job has ended; null: there is no job, or its state is not known yet. */
  readonly hasEnded: boolean | null;
  readonly colours: ComponentChildren;
}

export function GroupHead({ group, hasEnded, colours }: GroupHeadProps) {
  const { metrics } = group;
  return (
    <>
      <div class="group-head">
        <div class="panel">
          <h2>Prompt</h2>
          <Text block>{`${group.prompt ?? '(empty prompt)'}${group.prompt_is_cut ? ' …' : ''}`}</Text>
          <KeyValues values={group.metadata} />
        </div>
        <div class="panel">
          <h2>Rewards</h2>
          <HistogramChart values={group.rewards} label="Rewards" />
        </div>
        <div class="panel">
          <Facts
            facts={[
              ['mean reward', measured(metrics['reward'])],
              ['spread', measured(metrics['reward_std_dev'])],
              ['trajectories', String(group.num_trajectories)],
              ['choices', String(group.num_sampled_turns)],
              ['sampled tokens', compact(group.num_sampled_tokens)],
              ...(group.num_exceptions > 0 ? [['failed rollouts', String(group.num_exceptions)] as const] : []),
            ]}
          />
        </div>
      </div>
      {group.skipped && <SkippedList skipped={group.skipped} />}
      {hasEnded === false && <p class="muted">Token data is available once the job has ended.</p>}
      <Notes group={group} />
      {colours}
    </>
  );
}

function Notes({ group: { exceptions, logs } }: { group: Group }) {
  if (exceptions.length === 0 && logs.length === 0) return null;
  return (
    <details class="folded">
      <summary>
        {counted(exceptions.length, 'exception')}, {counted(logs.length, 'log line')}
      </summary>
      {exceptions.map(({ type, message, traceback }, at) => (
        <Text key={at} block>{`${type ?? 'Exception'}: ${message}${traceback === null ? '' : `\n${traceback}`}`}</Text>
      ))}
      {logs.length > 0 && <Text block>{logs.join('\n')}</Text>}
    </details>
  );
}
