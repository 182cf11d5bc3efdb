// One model: how its metrics moved, which checkpoints exist, and which jobs made them. Its lists come whole, in one answer each: what the
// newest job was is known before, and they are read again when it changes.
import { useMemo } from 'preact/hooks';
import { call } from '../api/client.ts';
import { readList } from '../api/pages.ts';
import { useLoad } from '../api/use-load.ts';
import type { ListedJob, ModelDetail } from '../api/wire.ts';
import { EPISODES_PATH } from '../episodes/addresses.ts';
import { ANSWERS_PATH, readEvaluations } from '../evaluations/evaluations.ts';
import { JOBS_PATH } from '../jobs/job-cells.tsx';
import { JobTable } from '../jobs/job-table.tsx';
import { CheckpointTable } from '../models/checkpoint-table.tsx';
import { ForkForm } from '../models/fork-form.tsx';
import { MetricCurves } from '../models/metric-curves.tsx';
import { ModelActions, ModelLabels } from '../models/model-labels.tsx';
import { OnlineTrainingSection } from '../models/online-training.tsx';
import { hrefTo, type PageProps } from '../router.ts';
import { countOf, partOf } from '../ui/counts.ts';
import { whole } from '../ui/numbers.ts';
import { PageHead, Section } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';

const REFRESH_MS = 10_000;
const JOBS_SHOWN = 20;
/** More than most models have steps: their list comes in one answer. */
const CHECKPOINTS_AT_ONCE = 2_000;

export function ModelPage({ params }: PageProps) {
  const id = params['id']!;
  const model = useLoad(
    (signal) => call('get', '/v1/preview/models/{model_id}', { path: { model_id: id }, signal }),
    [id],
    { everyMs: REFRESH_MS },
  );
  const jobs = useLoad(
    (signal) =>
      call('get', '/v1/preview/training-jobs', { query: { model_id: id, order: 'desc', limit: JOBS_SHOWN }, signal }),
    [id],
    { everyMs: REFRESH_MS },
  );
  return (
    <Loaded of={model} page="Model">
      {(value) => (
        <Loaded of={jobs} page="Model">
          {({ data, counts }) => (
            <OfModel model={value} jobs={data} jobCount={countOf(counts)} onChange={model.reload} />
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

const loraOf = ({ r, lora_alpha, use_rslora }: NonNullable<ModelDetail['lora']>): string =>
  `LoRA rank ${r}, alpha ${lora_alpha}${use_rslora ? ', rank-stabilized' : ''}`;

interface OfModelProps {
  readonly model: ModelDetail;
  /** The newest ones, newest first. */
  readonly jobs: readonly ListedJob[];
  /** All of the model's. */
  readonly jobCount: number;
  readonly onChange: () => void;
}

function OfModel({ model, jobs, jobCount, onChange }: OfModelProps) {
  const { id, project, name } = model;
  const version = `${jobs[0]?.id} ${jobs[0]?.status}`;
  const checkpoints = useLoad(
    (signal) =>
      readList('/v1/preview/models/{model_id}/checkpoints', {
        path: { model_id: id },
        query: { order: 'desc', limit: CHECKPOINTS_AT_ONCE },
        signal,
      }),
    [id],
    { version },
  );
  const evaluations = useLoad((signal) => readEvaluations(id, signal), [id], { version });
  const answered = useMemo(
    () => new Map(evaluations.state === 'ready' ? evaluations.value.map((each) => [each.step, each]) : []),
    [evaluations],
  );
  return (
    <>
      <PageHead
        crumbs={
          <a href={hrefTo('/', { project })} title={`Models of the project ${project}`}>
            <Text>{project}</Text>
          </a>
        }
        title={<Text>{name}</Text>}
        about={
          <>
            <span>
              base model <Text>{model.base_model}</Text>
            </span>
            {model.lora && <span title={model.lora.target_modules.join(', ')}>{loraOf(model.lora)}</span>}
            <code>{id}</code>
          </>
        }
        actions={
          <>
            <a class="button" href={hrefTo('/models/{id}/trajectories', { id })}>
              Trajectories
            </a>
            <a class="button" href={hrefTo(EPISODES_PATH, { model: id })}>
              Episodes
            </a>
            {answered.size > 0 && (
              <a class="button" href={hrefTo(ANSWERS_PATH, { id })}>
                Held-out answers
              </a>
            )}
            <a class="button" href={hrefTo('/playground', { model: `${project}/${name}` })}>
              Playground
            </a>
            <ModelActions model={model} onChange={onChange} />
          </>
        }
      />
      <ModelLabels model={model} onChange={onChange} />
      {model.trained_online && <OnlineTrainingSection modelId={id} version={version} onEnd={onChange} />}
      <MetricCurves modelId={id} version={version} />
      <Section
        title="Checkpoints"
        aside={
          checkpoints.state === 'ready' && (
            <>
              <span>{whole(checkpoints.value.length)}</span>
              <ForkForm model={model} checkpoints={checkpoints.value} />
            </>
          )
        }
      >
        <Loaded of={checkpoints}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty title="All checkpoints were deleted" />
            ) : (
              <CheckpointTable model={model} checkpoints={rows} evaluations={answered} onChange={checkpoints.reload} />
            )
          }
        </Loaded>
      </Section>
      <Section
        title="Newest jobs"
        aside={
          <>
            <span>{partOf(jobs.length, jobCount)}</span>
            <a href={hrefTo(JOBS_PATH, { model: id })}>All jobs of the model</a>
          </>
        }
      >
        {jobs.length === 0 ? <Empty title="No job yet" /> : <JobTable jobs={jobs} />}
      </Section>
    </>
  );
}
