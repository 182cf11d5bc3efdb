// The runs of one project: a table that is filtered by the server and sorted as a whole, and the comparison of chosen runs. What is shown
// is in the address.
import { useMemo, useRef } from 'preact/hooks';
import { useLoad } from '../api/use-load.ts';
import { changeQuery, hrefTo, type PageProps } from '../router.ts';
import { RUN_PROJECT_PATH, RUNS_PATH } from '../runs/addresses.ts';
import { ColumnChoice } from '../runs/column-choice.tsx';
import type { Run } from '../runs/run-cells.tsx';
import { readNamed, readRuns } from '../runs/read-runs.ts';
import { RunComparison } from '../runs/run-comparison.tsx';
import { RunTable, type RunRow } from '../runs/run-table.tsx';
import { columnsOf, firstColumns, valuesOf } from '../runs/run-values.ts';
import { countOf } from '../ui/counts.ts';
import { FieldFilter, OptionFilter } from '../ui/field-filter.tsx';
import { counted, whole } from '../ui/numbers.ts';
import { PageHead } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';

const REFRESH_MS = 10_000;
/** A longer list is read once, and again when the page is. */
const REFRESHED_ROWS_MAX = 100;
/** Colours distinguish at most this many. */
const COMPARED_MAX = 8;
const STATES = ['running', 'finished', 'failed'] as const;

export function RunProjectPage({ params, query }: PageProps) {
  const place = { entity: params['entity']!, project: params['project']! };
  const [search, state] = [query.get('search') ?? '', query.get('state') ?? ''];
  const found = useLoad(
    (signal) => readRuns({ ...place, search, state }, signal),
    [place.entity, place.project, search, state],
    { everyMs: REFRESH_MS, isLast: ({ runs }) => runs.length > REFRESHED_ROWS_MAX },
  );
  const isFiltered = search + state !== '';
  return (
    <>
      <PageHead
        title={<Text>{place.project}</Text>}
        crumbs={<a href={hrefTo(RUNS_PATH)}>Runs</a>}
        about="Newest first. Choose runs to compare them."
      />
      <div class="filters" role="search" aria-label="Runs">
        <FieldFilter
          label="Name, group or tag"
          type="search"
          value={search}
          size={18}
          choose={(text) => changeQuery({ search: text || null })}
        />
        <OptionFilter
          label="State"
          value={state}
          among={STATES}
          choose={(each) => changeQuery({ state: each || null })}
        />
        {isFiltered && <a href={hrefTo(RUN_PROJECT_PATH, place)}>Show all</a>}
      </div>
      <Loaded of={found}>
        {({ runs, counts }) =>
          runs.length === 0 ? (
            <Empty title={isFiltered ? 'No run matches' : 'This project has no runs'} />
          ) : (
            <Found runs={runs} total={countOf(counts, state)} query={query} />
          )
        }
      </Loaded>
    </>
  );
}

interface FoundProps {
  readonly runs: readonly Run[];
  readonly total: number;
  readonly query: URLSearchParams;
}

/** Also those that the filter hides, or that are older than the listed ones. A run that is gone is left out. */
function useChosen(rows: readonly RunRow[], chosen: readonly string[]): readonly RunRow[] {
  const { entity, project } = rows[0]!.run;
  const wanted = chosen.slice(0, COMPARED_MAX);
  const missing = wanted.filter((name) => !rows.some(({ run }) => run.run === name));
  const others = useLoad((signal) => readNamed({ entity, project }, missing, signal), [], {
    version: missing.join('\n'),
  });
  const known = others.state === 'ready' ? [...rows, ...others.value.map(toRow)] : rows;
  return wanted.flatMap((name) => known.find(({ run }) => run.run === name) ?? []);
}

const toRow = (run: Run): RunRow => ({ run, ...valuesOf(run) });

function Found({ runs, total, query }: FoundProps) {
  const rows = useMemo(() => runs.map(toRow), [runs]);
  const columns = useMemo(() => columnsOf(rows), [rows]);
  const shown = query.has('column') ? query.getAll('column') : firstColumns(columns);
  const chosen = query.getAll('compare');
  const compared = useChosen(rows, chosen);
  const comparison = useRef<HTMLDivElement>(null);
  const flip = (run: string, isOn: boolean) =>
    changeQuery({ compare: isOn ? [...chosen, run] : chosen.filter((each) => each !== run) });
  return (
    <>
      <div class="row run-list-head">
        <span class="muted small">
          {total > runs.length
            ? `The newest ${whole(runs.length)} of ${counted(total, 'run')}: filter them to sort them.`
            : counted(total, 'run')}
        </span>
        <ColumnChoice
          columns={columns}
          shown={shown}
          onChange={(next) => changeQuery({ column: next.length === 0 ? ['none'] : next })}
        />
      </div>
      <div class="section">
        <RunTable
          rows={rows}
          columns={columns.filter(({ id }) => shown.includes(id))}
          chosen={chosen}
          isFull={compared.length >= COMPARED_MAX}
          onChoose={flip}
          isPart={total > runs.length}
        />
        {compared.length > 0 && (
          <div class="row panel chosen-rows">
            <span>
              {compared.length === 1
                ? 'Choose more runs to compare this one with'
                : `${compared.length} of at most ${COMPARED_MAX} runs chosen`}
            </span>
            {compared.length > 1 && (
              <button type="button" onClick={() => comparison.current?.scrollIntoView()}>
                Show the comparison
              </button>
            )}
            <button type="button" onClick={() => changeQuery({ compare: null })}>
              Clear
            </button>
          </div>
        )}
      </div>
      {compared.length > 1 && (
        <div ref={comparison}>
          <RunComparison rows={compared} />
        </div>
      )}
    </>
  );
}
