// A model's checkpoints, newest first: try one, compare two, download, fork or delete one.
import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import type { Checkpoint, Model } from '../api/wire.ts';
import { answersHref, hasEnded, type StepEvaluation } from '../evaluations/evaluations.ts';
import { byInterest } from '../charts/curves.ts';
import { hrefTo } from '../router.ts';
import { Confirm } from '../ui/confirm.tsx';
import { counted, measured } from '../ui/numbers.ts';
import { Failure } from '../ui/states.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { Ago } from '../ui/time.tsx';
import { stepName } from '../ui/short-name.ts';
import { downloadCheckpoint } from './download-checkpoint.ts';

interface CheckpointTableProps {
  readonly model: Model;
  readonly checkpoints: readonly Checkpoint[];
  /** By step. */
  readonly evaluations: ReadonlyMap<number, StepEvaluation>;
  readonly onChange: () => void;
}

const METRICS_SHOWN = /^(train\/(reward|reward_std_dev|loss)|(?!train\/)[^/]+\/reward)$/;

export function CheckpointTable({ model, checkpoints, evaluations, onChange }: CheckpointTableProps) {
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const [error, setError] = useState<unknown>(null);
  const path = { model_id: model.id };
  const toggle = (step: number) =>
    setChosen(chosen.includes(step) ? chosen.filter((each) => each !== step) : [...chosen, step].slice(-2));
  const remove = async (step: number) => {
    await call('delete', '/v1/preview/models/{model_id}/checkpoints', { path, body: { steps: [step] } });
    onChange();
  };
  const names = new Set(checkpoints.flatMap(({ metrics }) => Object.keys(metrics)));
  const shown = [...names].filter((name) => METRICS_SHOWN.test(name)).sort(byInterest);
  const haveAnswers = chosen.length === 2 && chosen.every((step) => evaluations.has(step));
  const columns: readonly Column<Checkpoint>[] = [
    {
      title: 'Compare',
      cell: ({ step }) => (
        <label class="check">
          <input
            type="checkbox"
            aria-label={`Compare step ${step}`}
            checked={chosen.includes(step)}
            onChange={() => toggle(step)}
          />
        </label>
      ),
    },
    { title: 'Step', align: 'right', cell: ({ step }) => step, sortBy: ({ step }) => step },
    { title: 'Name', cell: ({ step }) => <Text>{stepName(model, step)}</Text>, isWide: true },
    { title: 'Made', cell: ({ created_at: made }) => <Ago at={made} />, sortBy: ({ created_at: made }) => made },
    ...shown.map((name): Column<Checkpoint> => ({
      title: name,
      align: 'right',
      cell: ({ metrics }) => measured(metrics[name]),
      sortBy: ({ metrics }) => metrics[name] ?? -Infinity,
    })),
    ...(evaluations.size === 0 ? [] : [answersColumn(model.id, evaluations)]),
    {
      title: 'Actions',
      cell: ({ step }) => (
        <span class="row nowrap">
          <a href={hrefTo('/playground', { model: stepName(model, step) })}>Try</a>
          <button class="link" type="button" onClick={() => void downloadCheckpoint(model, step).catch(setError)}>
            Download
          </button>
          <Confirm
            action="Delete"
            question={
              <p>
                <Text>{stepName(model, step)}</Text> can no longer be used, and its step number is not reused.
              </p>
            }
            onConfirm={() => remove(step)}
          />
        </span>
      ),
    },
  ];
  return (
    <>
      {error !== null && <Failure error={error} />}
      <Table label="Checkpoints" rows={checkpoints} keyOf={({ id }) => id} columns={columns} />
      {chosen.length > 0 && (
        <div class="row panel chosen-rows">
          {chosen.length === 1 ? (
            <span>Choose another checkpoint to compare step {chosen[0]} with</span>
          ) : (
            <a
              class="button"
              href={hrefTo('/playground', { model: stepName(model, chosen[0]!), other: stepName(model, chosen[1]!) })}
            >
              Compare step {Math.min(...chosen)} with step {Math.max(...chosen)}
            </a>
          )}
          {haveAnswers && (
            <a class="button" href={answersHref(model.id, Math.max(...chosen), Math.min(...chosen))}>
              Compare their held-out answers
            </a>
          )}
          <button type="button" onClick={() => setChosen([])}>
            Clear
          </button>
        </div>
      )}
    </>
  );
}

const answersColumn = (modelId: string, evaluations: ReadonlyMap<number, StepEvaluation>): Column<Checkpoint> => ({
  title: 'Held-out',
  cell({ step }) {
    const evaluation = evaluations.get(step);
    if (!evaluation) return <span class="muted">–</span>;
    const { num_answered: answered, num_prompts: all } = evaluation;
    const prompts = counted(all, 'prompt');
    const isWhole = hasEnded(evaluation) && answered === all;
    return <a href={answersHref(modelId, step)}>{isWhole ? prompts : `${answered} of ${prompts}`}</a>;
  },
});
