// The models that were active last, each with its reward curve and how far the reward moved: what a person looks at first.
import type { ModelSummary } from '../api/wire.ts';
import { ModelLink } from '../jobs/job-cells.tsx';
import { Change } from '../ui/comparison.tsx';
import { measured } from '../ui/numbers.ts';
import { Sparkline } from '../ui/sparkline.tsx';
import { Status } from '../ui/status.tsx';

const CARDS_MAX = 4;

export function RewardCards({ models }: { models: readonly ModelSummary[] }) {
  const moved = models.filter(({ rewards }) => rewards.length > 1).slice(0, CARDS_MAX);
  if (moved.length === 0) return null;
  return (
    <div class="reward-cards">
      {moved.map((model) => (
        <RewardCard key={model.id} model={model} />
      ))}
    </div>
  );
}

function RewardCard({ model }: { model: ModelSummary }) {
  const { rewards, latest_job: job } = model;
  const [first, last] = [rewards[0]!, rewards.at(-1)!];
  return (
    <article class="panel reward-card">
      <header>
        <ModelLink model={model} />
        {job && <Status of={job.status} />}
      </header>
      <p class="reward-now">
        <b>{measured(last.reward)}</b> <span class="muted small">reward, </span>
        {last.reward === first.reward ? (
          <span class="muted small">unchanged since step {first.step}</span>
        ) : (
          <>
            <Change by={last.reward - first.reward} /> <span class="muted small">since step {first.step}</span>
          </>
        )}
      </p>
      <Sparkline values={rewards.map(({ reward }) => reward)} label={`Reward of ${model.name}`} isLarge />
    </article>
  );
}
