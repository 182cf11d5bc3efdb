// All held-out prompts of one step, the worst first, next to those of another step. Order, filter and the open row are in the address; the keys
// j and k go through the prompts.
import { useMemo, useState } from 'preact/hooks';
import { compare, Verdict } from '../ui/comparison.tsx';
import { changeQuery, replaceQuery } from '../router.ts';
import { FieldFilter } from '../ui/field-filter.tsx';
import { counted } from '../ui/numbers.ts';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { useKeys } from '../ui/use-keys.ts';
import { VirtualList } from '../ui/virtual-list.tsx';
import { AnswerLine } from './answer-line.tsx';
import { answerRows, filterAnswers, ORDERS, orderRows } from './answer-rows.ts';
import type { GrowingAnswers } from './use-answers.ts';

interface AnswerTableProps {
  readonly step: number;
  readonly now: GrowingAnswers;
  readonly versus: number | null;
  readonly then: GrowingAnswers;
  readonly query: URLSearchParams;
}

export function AnswerTable({ step, now, versus, then, query }: AnswerTableProps) {
  const order = ORDERS.find((each) => each === query.get('order')) ?? 'worst first';
  const [text, current] = [query.get('text') ?? '', query.get('row') ?? ''];
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => answerRows(now.prompts, then.prompts), [now.prompts, then.prompts]);
  const ordered = useMemo(() => orderRows(filterAnswers(rows, text), order), [rows, text, order]);
  const isOpen = (key: string) => key === current || open.has(key);
  const toggle = (key: string) => {
    const left = [...open].filter((each) => each !== key);
    setOpen(new Set(isOpen(key) || current === '' ? left : [...left, current]));
    if (key === current || !isOpen(key)) replaceQuery({ row: key === current ? null : key });
  };
  const go = (by: 1 | -1) => () => {
    const at = ordered.findIndex(({ key }) => key === current);
    const next = ordered[at === -1 ? (by === 1 ? 0 : ordered.length - 1) : at + by];
    if (next) replaceQuery({ row: next.key });
  };
  useKeys({ j: go(1), k: go(-1), Escape: current === '' ? undefined : () => replaceQuery({ row: null }) });
  if (now.error !== null) return <Failure error={now.error} />;
  if (rows.length === 0) return now.isWhole ? <Empty title="No prompts" /> : <Loading />;
  const compared = versus === null || !then.isWhole ? null : compare(rows);
  const isUnrewarded = rows.every(({ mean }) => mean === null);
  return (
    <>
      {then.error !== null && <Failure error={then.error} />}
      {compared && <Verdict {...compared} step={step} versus={versus!} />}
      {versus !== null && now.isWhole && then.isWhole && !compared && (
        <p class="muted">No prompt has a reward at both steps.</p>
      )}
      {isUnrewarded && <NoRewards />}
      <div class="found">
        <label>
          Order{' '}
          <select value={order} onChange={({ currentTarget }) => changeQuery({ order: currentTarget.value })}>
            {ORDERS.filter((each) => versus !== null || !each.startsWith('greatest')).map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <FieldFilter
          label="Text"
          value={text}
          choose={(value) => changeQuery({ text: value })}
          placeholder="in prompts and answers"
          size={20}
        />
        <span class="muted" role="status">
          {ordered.length < rows.length && `${ordered.length} of `}
          {counted(rows.length, 'prompt')}
          {now.isWhole ? '' : ' so far'}
        </span>
        <span class="muted small">
          Keys: <kbd>j</kbd> next, <kbd>k</kbd> previous, <kbd>Esc</kbd> close
        </span>
      </div>
      <VirtualList
        label="Held-out prompts"
        rows={ordered}
        rowHeight={37}
        heightMax="min(70vh, 900px)"
        keyOf={({ key }) => key}
        follow={current}
      >
        {(row) => <AnswerLine {...{ row, step, versus }} isOpen={isOpen(row.key)} toggle={() => toggle(row.key)} />}
      </VirtualList>
    </>
  );
}

const NoRewards = () => (
  <p class="muted">
    No rewards were sent for these answers. Send them with <code>POST …/log</code> and <code>evaluation_job_id</code>.
  </p>
);
