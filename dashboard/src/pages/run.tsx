// One run: its curves, its summary and its configuration.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { goTo, hrefTo, type PageProps } from '../router.ts';
import { RUN_PROJECT_PATH, RUNS_PATH } from '../runs/addresses.ts';
import { RanFor, RunState, type Run } from '../runs/run-cells.tsx';
import { RunCharts } from '../runs/run-charts.tsx';
import { inWords, sortValue, valuesOf, type Scalar, type Valued } from '../runs/run-values.ts';
import { Confirm } from '../ui/confirm.tsx';
import { counted, whole } from '../ui/numbers.ts';
import { PageHead, Section } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { Ago } from '../ui/time.tsx';

const REFRESH_MS = 5_000;
const RUN = '/v1/runs/{entity}/{project}/{run}';

export function RunPage({ params }: PageProps) {
  const path = { entity: params['entity']!, project: params['project']!, run: params['run']! };
  const found = useLoad((signal) => call('get', RUN, { path, signal }), [path.entity, path.project, path.run], {
    everyMs: REFRESH_MS,
    isLast: ({ state }) => state !== 'running',
  });
  return (
    <Loaded of={found} page="Run">
      {(run) => <OfRun run={run} />}
    </Loaded>
  );
}

function OfRun({ run }: { run: Run }) {
  const { entity, project } = run;
  const projectHref = hrefTo(RUN_PROJECT_PATH, { entity, project });
  const { config, summary } = valuesOf(run);
  const remove = async () => {
    await call('delete', RUN, { path: { entity, project, run: run.run } });
    goTo(projectHref);
  };
  return (
    <>
      <PageHead
        title={<Text>{run.name}</Text>}
        crumbs={
          <>
            <a href={hrefTo(RUNS_PATH)}>Runs</a>
            <a href={projectHref}>
              <Text>{project}</Text>
            </a>
          </>
        }
        about={<About run={run} />}
        actions={
          <>
            <a class="button" href={hrefTo(RUN_PROJECT_PATH, { entity, project, compare: run.run })}>
              Compare
            </a>
            <Confirm
              action="Delete"
              question={
                <p>
                  The run <Text>{run.name}</Text>, its configuration and its {counted(run.history_lines, 'line')} of
                  history are deleted. This cannot be undone.
                </p>
              }
              onConfirm={remove}
            />
          </>
        }
      />
      {run.notes && (
        <div class="section">
          <Text block>{run.notes}</Text>
        </div>
      )}
      <RunCharts runs={[run]} version={String(run.history_lines)} />
      <div class="columns">
        <Values title="Summary" of="summary" values={summary} none="The script has logged nothing yet" />
        <Values title="Configuration" of="config" values={config} none="The script gave no configuration" />
      </div>
    </>
  );
}

const About = ({ run }: { run: Run }) => (
  <>
    <RunState run={run} />
    <span>
      started <Ago at={run.created_at} />, {run.state === 'running' ? 'running for' : 'took'} <RanFor run={run} />
    </span>
    <span>{counted(run.history_lines, 'line')}</span>
    {run.group !== null && <Text>{`group ${run.group}`}</Text>}
    {run.job_type !== null && <Text>{`type ${run.job_type}`}</Text>}
    {run.tags.length > 0 && <Text>{run.tags.join(', ')}</Text>}
    <code>
      <Text>{run.run}</Text>
    </code>
  </>
);

interface ValuesProps {
  readonly title: string;
  readonly of: keyof Valued;
  readonly values: ReadonlyMap<string, Scalar>;
  readonly none: string;
}

const Values = ({ title, of, values, none }: ValuesProps) => (
  <Section title={title} aside={<span>{whole(values.size)}</span>}>
    {values.size === 0 ? (
      <Empty title={none} />
    ) : (
      <Table
        label={title}
        rows={[...values]}
        keyOf={([name]) => name}
        columns={[
          { title: 'Name', cell: ([name]) => <Text>{name}</Text>, sortBy: ([name]) => name },
          {
            title: 'Value',
            cell: ([, value]) => <Text>{inWords(value, of)}</Text>,
            sortBy: ([, value]) => sortValue(value, typeof value === 'number'),
            isWide: true,
          },
        ]}
      />
    )}
  </Section>
);
