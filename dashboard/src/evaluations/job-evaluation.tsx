// The held-out evaluation of a job: its progress, its result, and a button that cancels it.
import { call } from '../api/client.ts';
import type { JobDetail } from '../api/wire.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Section } from '../ui/page-head.tsx';
import { Failure } from '../ui/states.tsx';
import { Progress, Status } from '../ui/status.tsx';
import { answersHref, hasEnded, progressOf } from './evaluations.ts';

/** Draws nothing if the job names no prompts. */
export function JobEvaluation({ job, onChange }: { job: JobDetail; onChange: () => void }) {
  const { evaluation, step } = job;
  if (!evaluation) return null;
  const cancel = async () => {
    const path = { training_job_id: job.id };
    await call('post', '/v1/preview/training-jobs/{training_job_id}/evaluation/cancel', { path });
    onChange();
  };
  const share = evaluation.num_prompts === 0 ? 1 : evaluation.num_answered / evaluation.num_prompts;
  return (
    <Section title="Held-out evaluation">
      <div class="panel row">
        <Status of={evaluation.status} />
        <Progress value={share} label="Answered prompts" />
        <span>
          {progressOf(evaluation)}, {evaluation.num_samples} each
        </span>
        {step !== null && evaluation.num_answered > 0 && <a href={answersHref(job.model_id, step)}>Answers</a>}
        {!hasEnded(evaluation) && (
          <Confirm
            action="Cancel evaluation"
            question={<p>The job, its checkpoint and the answers so far are kept.</p>}
            onConfirm={cancel}
          />
        )}
      </div>
      {evaluation.error_message !== null && evaluation.status === 'failed' && (
        <Failure error={evaluation.error_message} />
      )}
    </Section>
  );
}
