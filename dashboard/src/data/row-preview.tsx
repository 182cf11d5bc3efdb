// Rows of a training data file, a page at a time, with the choices on which their tokens depend.
import { useEffect, useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { Section } from '../ui/page-head.tsx';
import { Failure, Loading } from '../ui/states.tsx';
import { visibleText } from '../ui/text.tsx';
import { DatasetRow, ROWS, type Row } from './dataset-row.tsx';

interface RowPreviewProps {
  readonly name: Readonly<Record<string, string>>;
  readonly path: string;
  readonly paths: readonly string[];
  readonly choose: (path: string) => void;
}

const PAGE_ROWS = 20;

export function RowPreview({ name, path, paths, choose }: RowPreviewProps) {
  const [base, setBase] = useState('');
  const [turns, setTurns] = useState<'all' | 'last'>('all');
  const [view, setView] = useState<'tokens' | 'messages'>('tokens');
  const bases = useLoad((signal) => call('get', '/v1/preview/base-models', { signal }), []);
  const names = bases.state === 'ready' ? namesOf(bases.value) : [];
  const { rows, hasMore, busy, error, more } = useRows(name, { path, base_model: base, assistant_turns: turns });
  const arePairs = rows.some(({ chosen }) => chosen !== null);
  return (
    <Section
      title="Rows"
      aside={
        <>
          {paths.length > 1 && <Choice label="File" value={path} options={paths} choose={choose} />}
          <Choice label="Tokenizer of" value={base || names[0] || ''} options={names} choose={setBase} />
          {!arePairs && (
            <Choice
              label="Trained turns"
              value={turns}
              options={['all', 'last']}
              choose={(to) => setTurns(to as 'all')}
            />
          )}
          <Choice label="Show" value={view} options={['tokens', 'messages']} choose={(to) => setView(to as 'tokens')} />
        </>
      }
    >
      <p class="muted small masked-legend">
        <span class="token trained">Marked tokens</span>{' '}
        {arePairs
          ? 'are what a DPO job compares: it makes those of the chosen answer more likely than those of the rejected one'
          : 'are trained on'}
        ; <span class="token context">the others</span> are context, which the loss ignores.
      </p>
      <ol class="dataset-rows">
        {rows.map((row) => (
          <DatasetRow key={row.id} row={row} view={view} />
        ))}
      </ol>
      {busy && <Loading />}
      {error !== null && <Failure error={error} />}
      {hasMore && !busy && (
        <button type="button" onClick={more}>
          More rows
        </button>
      )}
    </Section>
  );
}

const namesOf = (answer: unknown): string[] => (Array.isArray(answer) ? (answer as string[]) : []);

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly choose: (value: string) => void;
}

const Choice = ({ label, value, options, choose }: ChoiceProps) => (
  <label>
    {label}{' '}
    <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
      {options.map((each) => (
        <option key={each} value={each}>
          {visibleText(each)}
        </option>
      ))}
    </select>
  </label>
);

type Wanted = { readonly path: string; readonly base_model: string; readonly assistant_turns: 'all' | 'last' };

/** Loads rows page by page. */
function useRows(name: Readonly<Record<string, string>>, wanted: Wanted) {
  const [read, setRead] = useState<{ rows: Row[]; after: string | null; hasMore: boolean }>({
    rows: [],
    after: null,
    hasMore: true,
  });
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const key = JSON.stringify([name, wanted]);

  async function load(known: Row[], after: string | null, signal?: AbortSignal) {
    setBusy(true);
    try {
      const query = { ...wanted, limit: PAGE_ROWS, ...(after === null ? {} : { after }) };
      const page = await call('get', ROWS, { path: name, query, signal });
      if (!signal?.aborted) setRead({ rows: [...known, ...page.data], after: page.last_id, hasMore: page.has_more });
    } catch (failed) {
      if (!signal?.aborted) setError(failed);
    } finally {
      if (!signal?.aborted) setBusy(false);
    }
  }

  useEffect(() => {
    const stop = new AbortController();
    setError(null);
    void load([], null, stop.signal);
    return () => stop.abort();
  }, [key]);

  return { ...read, busy, error, more: () => void load(read.rows, read.after) };
}
