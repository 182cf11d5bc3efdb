// All held-out prompts of one step, the worst first, next to those of another step.
import { useMemo, useState } from 'preact/hooks';
import { compare, Verdict } from '../ui/comparison.tsx';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { VirtualList } from '../ui/virtual-list.tsx';
import { AnswerLine } from './answer-line.tsx';
import { answerRows, ORDERS, orderRows, type AnswerOrder } from './answer-rows.ts';
import type { GrowingAnswers } from './use-answers.ts';

interface AnswerTableProps {
  readonly step: number;
  readonly now: GrowingAnswers;
  readonly versus: number | null;
  readonly then: GrowingAnswers;
}

export function AnswerTable({ step, now, versus, then }: AnswerTableProps) {
  const [order, setOrder] = useState<AnswerOrder>('worst first');
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => answerRows(now.prompts, then.prompts), [now.prompts, then.prompts]);
  const ordered = useMemo(() => orderRows(rows, order), [rows, order]);
  const toggle = (key: string) =>
    setOpen((before) => new Set(before.has(key) ? [...before].filter((each) => each !== key) : [...before, key]));
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
          <select value={order} onChange={({ currentTarget }) => setOrder(currentTarget.value as AnswerOrder)}>
            {ORDERS.filter((each) => versus !== null || !each.startsWith('greatest')).map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <span class="muted" role="status">
          {rows.length} {rows.length === 1 ? 'prompt' : 'prompts'}
          {now.isWhole ? '' : ' so far'}
        </span>
      </div>
      <VirtualList
        label="Held-out prompts"
        rows={ordered}
        rowHeight={37}
        height="min(70vh, 900px)"
        keyOf={({ key }) => key}
      >
        {(row) => <AnswerLine {...{ row, step, versus }} isOpen={open.has(row.key)} toggle={() => toggle(row.key)} />}
      </VirtualList>
    </>
  );
}

const NoRewards = () => (
  <p class="muted">
    No rewards were sent for these answers. Send them with <code>POST …/log</code> and <code>evaluation_job_id</code>.
  </p>
);
