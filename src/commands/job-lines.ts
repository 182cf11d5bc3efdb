// Training jobs as text: a job in a list, a single job, its groups, its events, and the answers of its checkpoint. Texts of
// rollouts are printed without control characters.
import type { AnsweredPrompt, Evaluation, JobGroup, TrainingEvent, TrainingJob } from '#client/client';
import { printable } from './output.ts';
import { toldApart } from './told-apart.ts';

/** Other jobs have a step number too, but created no checkpoint. */
export const madeStep = ({ status, step }: TrainingJob, before = ''): string =>
  status === 'succeeded' ? `${before}step ${step}` : '';

export const waitOf = ({ waiting_for: waits }: TrainingJob): string => (waits ? printable(waits.message) : '');

export function lineOfJob(job: TrainingJob): string {
  const { id, type, status, progress, created_at: made } = job;
  return [id, type, status.padEnd(9), `${Math.round(progress * 100)} %`.padStart(5), made, madeStep(job), waitOf(job)]
    .filter((cell) => cell !== '')
    .join('  ')
    .trimEnd();
}

/**
 * Leaves out the settings of the job, which `whetstone jobs get` shows. A line that is wider than the terminal is broken between
 * fields, so that no number is split.
 */
export function linesOfEvent({ type, data }: TrainingEvent, columns = Infinity): string[] {
  if (type === 'training_waiting') return [`${type}  ${printable(data.waiting_for.message)}`];
  const { config: _, rows_digest: __, warnings = [], ...rest } = data as Readonly<Record<string, unknown>>;
  const shown = Object.entries(rest)
    .filter(([, value]) => JSON.stringify(value) !== '{}')
    .map(
      ([key, value]) =>
        `${key}=${typeof value === 'number' ? Number(value.toPrecision(5)) : printable(JSON.stringify(value))}`,
    );
  return [...wrapped([type, ...shown], columns), ...(warnings as readonly string[]).map(lineOfWarning)];
}

function wrapped([first = '', ...rest]: readonly string[], columns: number): string[] {
  const lines = [first];
  for (const field of rest) {
    const longer = `${lines.at(-1)}  ${field}`;
    if (longer.length <= columns) lines[lines.length - 1] = longer;
    else lines.push(`  ${field}`);
  }
  return lines;
}

export const lineOfWarning = (warning: string): string => `warning: ${printable(warning)}`;

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
    ...(skipped && Object.keys(skipped).length > 0 ? [`skipped ${pairs(skipped)}`] : []),
    ...(prompt === '' ? [] : [prompt]),
  ];
  return parts.join('  ');
}

export function lineOfEvaluation(evaluation: Evaluation): string {
  const { status, num_prompts: prompts, num_samples: samples, num_answered: answered, num_failed: failed } = evaluation;
  const failures = failed > 0 ? `, ${failed} could not be` : '';
  const error = evaluation.error_message === null ? '' : `: ${printable(evaluation.error_message)}`;
  return `evaluation: ${status}, ${answered} of ${prompts} prompts answered${failures}, ${samples} samples each${error}`;
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
    return `  ${worth}${finish}  ${printable(message.content ?? '').slice(0, ANSWER_SHOWN)}`;
  });
  return [prompt, ...(answers === null ? ['  not yet answered'] : shown)];
}

const ANSWER_SHOWN = 100;
const PROMPT_SHOWN = 60;

const numbers = (values: readonly number[]): string => values.map((value) => Number(value.toPrecision(3))).join(' ');

export const pairs = (record: Readonly<Record<string, unknown>>): string =>
  Object.entries(record)
    .map(
      ([name, value]) => `${printable(name)}=${printable(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )
    .join(' ');
