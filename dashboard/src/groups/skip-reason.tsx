// Shows why a trajectory was not trained, or not to its end.
import { explainSkip, nameSkip } from './skip-reasons.ts';

export const SkipReason = ({ reason }: { reason: string }) => (
  <p class="skip-reason">
    <b>{reason === 'truncated' ? 'Truncated' : `Not trained: ${nameSkip(reason)}`}.</b> {explainSkip(reason)}
  </p>
);

/** For a group or a job: how many were skipped for each reason. */
export function SkippedList({ skipped }: { skipped: Readonly<Record<string, number>> }) {
  const reasons = Object.entries(skipped).filter(([, count]) => count > 0);
  if (reasons.length === 0) return null;
  return (
    <ul class="skipped">
      {reasons.map(([reason, count]) => (
        <li key={reason}>
          <b>
            {count} {reason === 'truncated' ? 'truncated' : 'not trained'}: {nameSkip(reason)}.
          </b>{' '}
          {explainSkip(reason)}
        </li>
      ))}
    </ul>
  );
}
