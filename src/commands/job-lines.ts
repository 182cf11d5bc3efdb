// Training jobs as text: a list, a single job, its groups, and the answers of its checkpoint; its events are event-lines.ts. Texts of
// rollouts are printed without control characters.
import { counted } from '#base/counted';
import { settingLines } from '#base/setting-lines';
import type { AnsweredPrompt, Evaluation, JobConfig, JobGroup, TrainingJob } from '#client/client';
import { lineOfWarning, linesOfError, short, skips } from './event-lines.ts';
import { inColumns } from './columns.ts';
import { cut, printable, table } from './output.ts';
import { saidByServer } from './routes-as-commands.ts';
import { shortName } from './short-name.ts';
import { ago, lasting } from './times.ts';
import { toldApart } from './told-apart.ts';

/** Why it has not started; empty: it waits for nothing. */
const waitOf = ({ waiting_for: waits }: TrainingJob): string => (waits ? saidByServer(printable(waits.message)) : '');

/** The checkpoint that it made, as commands and chat requests name it; without one, its model. */
export function nameOfResult({ status, step, model_name: model }: TrainingJob): string {
  if (status !== 'succeeded') return model ?? '';
  return model ? `${model}:step${step}` : `step ${step}`;
}

const HEADER = ['ID', 'KIND', 'STATUS', 'DONE', 'MODEL', 'REWARD', 'LOSS', 'TOOK', 'SUBMITTED'];

/** A table with a header; the ids are whole, because other commands take them. */
export function linesOfJobs(jobs: readonly TrainingJob[], nowMs = Date.now()): string[] {
  const header = jobs.some((job) => waitOf(job) !== '') ? [...HEADER, 'WAITING'] : HEADER;
  return table(
    'No jobs.',
    header,
    jobs.map((job) => cellsOfJob(job, nowMs).slice(0, header.length)),
  );
}

function cellsOfJob(job: TrainingJob, nowMs: number): string[] {
  const { id, type, status, progress, reward = null, loss = null, created_at: made } = job;
  const seconds = secondsOf(job, nowMs);
  return [
    id,
    type,
    status,
    `${Math.round(progress * 100)} %`,
    nameOfResult(job) || '-',
    reward === null ? '-' : short(reward),
    loss === null ? '-' : short(loss),
    seconds === null ? '-' : lasting(seconds),
    ago(made, nowMs),
    waitOf(job),
  ];
}

/** One job: what became of it, what it trained on, and its settings, a line each. */
export function linesOfJob(job: TrainingJob, { config, input, as_trained: asTrained }: JobConfig, nowMs = Date.now()) {
  const { id, type, status, progress, reward = null, loss = null, created_at: made, error_message: error } = job;
  const seconds = secondsOf(job, nowMs);
  const settings = settingLines(config).map(([name, value]) => [`  ${printable(name)}`, printable(value)]);
  return [
    `${type} job ${id}: ${status}, ${Math.round(progress * 100)} %`,
    ...(nameOfResult(job) === '' ? [] : [`${status === 'succeeded' ? 'checkpoint' : 'model'}: ${nameOfResult(job)}`]),
    `submitted: ${ago(made, nowMs)}${seconds === null ? '' : `, ${status === 'running' ? 'runs since' : 'took'} ${lasting(seconds)}`}`,
    ...(reward === null ? [] : [`reward: ${short(reward)}`]),
    ...(loss === null ? [] : [`loss: ${short(loss)}`]),
    ...(waitOf(job) === '' ? [] : [waitOf(job)]),
    ...(error === null ? [] : linesOfError('error', error)),
    ...(job.warnings ?? []).map(lineOfWarning),
    ...skips(job.skipped),
    `data: ${input.uri === null ? 'the groups that were sent with it, which --groups shows' : printable(shortName(input.uri))}`,
    `${asTrained ? 'trained with' : 'would train with'}:`,
    ...inColumns(settings),
  ];
}

/** Of a running job so far; null: it never started. */
function secondsOf({ seconds = null, training_start: start, training_end: end }: TrainingJob, nowMs: number) {
  if (seconds !== null || start === null || end !== null) return seconds;
  return Math.max(0, (nowMs - Date.parse(start)) / 1000);
}

/** All groups of a job: prompts that begin alike are shown where they differ. */
export function linesOfGroups(groups: readonly JobGroup[]): string[] {
  const prompts = toldApart(
    groups.map(({ prompt }) => prompt ?? ''),
    PROMPT_SHOWN,
  );
  return groups.map((group, i) => lineOfGroup(group, prompts[i]!));
}

function lineOfGroup(group: JobGroup, prompt: string): string {
  const { index, rewards, advantages, skipped, num_exceptions: exceptions } = group;
  const parts = [
    `group ${index}`,
    `rewards ${numbers(rewards)}`,
    ...(advantages ? [`advantages ${numbers(advantages)}`] : []),
    ...(exceptions > 0 ? [`exceptions ${exceptions}`] : []),
    ...skips(skipped ?? {}),
    ...(prompt === '' ? [] : [prompt]),
  ];
  return parts.join('  ');
}

export function lineOfEvaluation(evaluation: Evaluation): string {
  const { status, num_prompts: prompts, num_samples: samples, num_answered: answered, num_failed: failed } = evaluation;
  const failures = failed > 0 ? `, ${failed} could not be` : '';
  const error = evaluation.error_message === null ? '' : `: ${printable(evaluation.error_message)}`;
  return `evaluation: ${status}, ${answered} of ${counted(prompts, 'prompt')} answered${failures}, ${counted(samples, 'sample')} each${error}`;
}

/** All answers of an evaluation. */
export function linesOfAnswers(answered: readonly AnsweredPrompt[]): string[] {
  const asked = answered.map(({ messages }) => messages.at(-1)?.content ?? '');
  const prompts = toldApart(
    asked.map((content) => (typeof content === 'string' ? content : JSON.stringify(content))),
    PROMPT_SHOWN,
  );
  return answered.flatMap((each, i) => linesOfAnswered(each, prompts[i]!));
}

function linesOfAnswered({ index, answers, error }: AnsweredPrompt, asked: string): string[] {
  const prompt = `prompt ${index}  ${asked}`;
  if (error !== null) return [prompt, `  not answered: ${printable(error)}`];
  const shown = (answers ?? []).map(({ message, reward, finish_reason: finish }) => {
    const worth = reward === null ? '' : `reward ${numbers([reward])}  `;
    return `  ${worth}${finish}  ${cut(printable(message.content ?? ''), ANSWER_SHOWN)}`;
  });
  return [prompt, ...(answers === null ? ['  not yet answered'] : shown)];
}

const ANSWER_SHOWN = 100;
const PROMPT_SHOWN = 60;

const numbers = (values: readonly number[]): string => values.map((value) => Number(value.toPrecision(3))).join(' ');
