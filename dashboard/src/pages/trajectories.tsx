// Trajectories of a model over its steps: choose a split and a step, then look at single trajectories or at the mean reward of each
// prompt. The choice is kept in the address.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { changeQuery, replaceQuery, type PageProps } from '../router.ts';
import { PromptTable } from '../trajectories/prompt-table.tsx';
import { readSources, sourcesAt, splitsOf, stepsOf, TRAINED, type Source } from '../trajectories/sources.ts';
import { StepChoice, type Choose } from '../trajectories/step-choice.tsx';
import { TrajectoryTable } from '../trajectories/trajectory-table.tsx';
import { ModelLink } from '../jobs/job-cells.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';

export function TrajectoriesPage({ params, query }: PageProps) {
  const id = params['id']!;
  const model = useLoad(
    (signal) => call('get', '/v1/preview/models/{model_id}', { path: { model_id: id }, signal }),
    [id],
  );
  const sources = useLoad((signal) => readSources(id, signal), [id]);
  const crumbs = model.state === 'ready' && <ModelLink model={model.value} />;
  return (
    <>
      <PageHead title="Trajectories" crumbs={crumbs} />
      <Loaded of={sources}>
        {(read) =>
          read.length === 0 ? (
            <Empty title="No trajectories yet">
              They appear with the first training job, or when a client logs some.
            </Empty>
          ) : (
            <Chosen modelId={id} sources={read} query={query} />
          )
        }
      </Loaded>
    </>
  );
}

interface ChosenProps {
  readonly modelId: string;
  readonly sources: readonly Source[];
  readonly query: URLSearchParams;
}

function Chosen({ modelId, sources, query }: ChosenProps) {
  const splits = splitsOf(sources);
  const split = splits.find((each) => each === query.get('split')) ?? (splits.includes(TRAINED) ? TRAINED : splits[0]!);
  const steps = stepsOf(sources, split);
  const wanted = Number(query.get('step') ?? NaN);
  const step = steps.includes(wanted) ? wanted : steps.at(-1)!;
  const view = query.get('view') === 'prompts' ? 'prompts' : 'trajectories';
  const versus = steps.includes(Number(query.get('versus') ?? NaN)) ? Number(query.get('versus')) : null;

  /** The address also names the step, so that a link still shows it when there are others. An open row belongs to its step. */
  const choose: Choose = (changed) =>
    changeQuery({ split, step, ...('step' in changed || 'split' in changed ? { row: null } : {}), ...changed });
  const open = (row: string | null) => replaceQuery({ split, step, row });
  const at = sourcesAt(sources, split, step);
  const shared = { modelId, sources: at };
  return (
    <>
      <StepChoice {...{ splits, split, steps, step, view, choose }} />
      {view === 'prompts' ? (
        <PromptTable
          {...shared}
          steps={steps}
          step={step}
          versus={versus}
          before={versus === null ? [] : sourcesAt(sources, split, versus)}
          choose={choose}
        />
      ) : (
        <TrajectoryTable {...shared} query={query} choose={choose} open={open} />
      )}
    </>
  );
}
