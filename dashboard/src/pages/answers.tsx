// What a checkpoint answered to held-out prompts, alone or compared with another checkpoint. The address names both.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { AnswerTable } from '../evaluations/answer-table.tsx';
import { EvaluationSettings } from '../evaluations/evaluation-settings.tsx';
import { hasEnded, progressOf, readEvaluations, type StepEvaluation } from '../evaluations/evaluations.ts';
import { useAnswers } from '../evaluations/use-answers.ts';
import { changeQuery, hrefTo, type PageProps } from '../router.ts';
import { ModelLink } from '../jobs/job-cells.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { Empty, Failure, Loaded } from '../ui/states.tsx';

const REFRESH_MS = 3_000;

export function AnswersPage({ params, query }: PageProps) {
  const id = params['id']!;
  const model = useLoad(
    (signal) => call('get', '/v1/preview/models/{model_id}', { path: { model_id: id }, signal }),
    [id],
  );
  const evaluations = useLoad((signal) => readEvaluations(id, signal), [id], { everyMs: REFRESH_MS });
  const crumbs = model.state === 'ready' && <ModelLink model={model.value} />;
  return (
    <>
      <PageHead title="Held-out answers" crumbs={crumbs} />
      <Loaded of={evaluations}>
        {(found) =>
          found.length === 0 ? (
            <Empty title="No checkpoint has answered held-out prompts">
              A training job can name them in <code>evaluation</code>; the checkpoint that it makes then answers them.
            </Empty>
          ) : (
            <Chosen evaluations={found} query={query} />
          )
        }
      </Loaded>
    </>
  );
}

interface ChosenProps {
  readonly evaluations: readonly StepEvaluation[];
  readonly query: URLSearchParams;
}

function Chosen({ evaluations, query }: ChosenProps) {
  const at = (name: string) => evaluations.find(({ step }) => String(step) === query.get(name));
  const answered = evaluations.filter((each) => each.num_answered > 0);
  const shown = at('step') ?? answered.at(-1) ?? evaluations.at(-1)!;
  const other = at('versus') ?? null;
  const versions = [useVersion(shown), useVersion(other)] as const;
  const now = useAnswers(shown.id, versions[0]);
  const then = useAnswers(other?.id ?? null, versions[1]);
  const choose = (step: number, versus: number | null) => changeQuery({ step, versus, row: null });
  const versus = other?.step ?? null;
  return (
    <>
      <div class="found">
        <label>
          Step{' '}
          <select value={shown.step} onChange={({ currentTarget }) => choose(Number(currentTarget.value), versus)}>
            <Steps of={evaluations} />
          </select>
        </label>
        <label>
          Compare with step{' '}
          <select
            value={versus ?? ''}
            onChange={({ currentTarget: { value } }) => choose(shown.step, value === '' ? null : Number(value))}
          >
            <option value="">none</option>
            <Steps of={evaluations.filter(({ step }) => step !== shown.step)} />
          </select>
        </label>
        <a class="small" href={hrefTo('/jobs/{id}', { id: shown.id })}>
          Job of step {shown.step}
        </a>
        <span class="muted small">{progressOf(shown)}</span>
      </div>
      {shown.error_message !== null && <Failure error={shown.error_message} />}
      <EvaluationSettings jobId={shown.id} />
      <AnswerTable step={shown.step} now={now} versus={versus} then={then} query={query} />
    </>
  );
}

const Steps = ({ of }: { of: readonly StepEvaluation[] }) => (
  <>
    {of.map(({ step, id }) => (
      <option key={id} value={step}>
        {step}
      </option>
    ))}
  </>
);

/** A text that changes when there are more answers or other rewards. */
function useVersion(evaluation: StepEvaluation | null): string {
  const id = evaluation?.id ?? null;
  const log = useLoad(
    async (signal) => {
      if (id === null) return null;
      const path = { training_job_id: id };
      const detail = await call('get', '/v1/preview/training-jobs/{training_job_id}/evaluation', { path, signal });
      return detail.log?.id ?? null;
    },
    [id],
    { everyMs: REFRESH_MS },
  );
  if (!evaluation) return '';
  const rewards = log.state === 'ready' ? log.value : null;
  return [evaluation.num_answered, hasEnded(evaluation), rewards].join(' ');
}
