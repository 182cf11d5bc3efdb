// Logs a job's gradient steps as lines of the run that is named like its model, if the job asks for it (`metric_logging`): they appear
// beside what a script logs there, without a script having to wait for them. Names are those that ART uses for its own trainer. Knows
// nothing about readers of runs.
import { createId } from '#base/ids';
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { Model } from '#domain/model';
import type { Run } from '#domain/run';
import type { TrainingJob } from '#domain/training-job';
import type { Storage } from '#storage/storage';
import type { StepMetrics } from '#training/step-metrics';
import { readLoggedObject } from '../../runs/run-json.ts';

/** Each line is written once, even if called again. Neither method throws: a failure to log does not fail the job. */
export interface RunMetrics {
  /** Gradient step 1, 2, …; all names start with `sft/`. */
  stepped(gradientStep: number, metrics: StepMetrics): Promise<void>;
  /** The checkpoint: means over its gradient steps, and its own metrics. */
  ended(gradientSteps: number, metrics: StepMetrics): Promise<void>;
}

export interface RunMetricsDeps {
  readonly runs: Storage['runs'];
  readonly clock: Clock;
  readonly log: Log;
}

/** In the run's summary: the job and the number of its last logged line, so that a replay adds no line twice. */
const LOGGED = 'whetstone/logged';
const SECTIONS = /^(loss|data|train|val)\//;
const ART_NAMES: Readonly<Record<string, string>> = {
  loss: 'loss/train',
  grad_norm: 'loss/grad_norm',
  learning_rate: 'loss/learning_rate',
  num_trainable_tokens: 'data/step_trainable_assistant_tokens',
};

/** `trainingStep`: the step of the checkpoint that the job makes. */
export function createRunMetrics(
  { runs, clock, log }: RunMetricsDeps,
  job: TrainingJob,
  model: Model,
  trainingStep: number,
): RunMetrics {
  const name = { entity: model.entity, project: model.project, name: model.name };
  const payer = { keyId: job.keyId, keyBytesMax: null, entityBytesMax: null };

  async function findOrMake(): Promise<Run | null> {
    const found = await runs.find(name);
    if (found) return found;
    const made = await runs.upsert({ id: createId(), ...name }, { state: 'finished' }, payer, clock.now());
    return made.outcome === 'over_limit' ? null : made.run;
  }

  async function append(ordinal: number, line: readonly (readonly [string, number])[]): Promise<void> {
    const run = await findOrMake();
    if (!run) return;
    const summary = readLoggedObject(run.summary) ?? {};
    if (lastLogged(summary[LOGGED], job.id) >= ordinal) return;
    const { historyLines } = run;
    const [last] = historyLines === 0 ? [] : await runs.history(run.id, historyLines - 1, 1);
    const nowMs = clock.now();
    const content = {
      ...Object.fromEntries(line),
      training_step: trainingStep,
      _step: nextStep(last?.content, historyLines),
      _timestamp: nowMs / 1000,
      _runtime: (nowMs - run.createdAtMs) / 1000,
    };
    const change = { summary: JSON.stringify({ ...summary, ...content, [LOGGED]: `${job.id} ${ordinal}` }) };
    await runs.append(run.id, { offset: historyLines, lines: [JSON.stringify(content)] }, change, payer, nowMs);
  }

  const keepGoing = (fault: unknown) => log.warn('job.metrics_not_logged', { err: fault });
  return {
    stepped: (gradientStep, metrics) =>
      append(gradientStep, [
        ...namedAsArt(metrics).map(([name, value]) => [`sft/${name}`, value] as const),
        ['sft/gradient_step', gradientStep],
      ]).catch(keepGoing),
    ended: (gradientSteps, metrics) =>
      append(gradientSteps + 1, [
        ...namedAsArt(metrics).filter(([name]) => SECTIONS.test(name)),
        ['data/step_num_gradient_steps', gradientSteps],
      ]).catch(keepGoing),
  };
}

const namedAsArt = (metrics: StepMetrics) =>
  Object.entries(metrics).map(([name, value]) => [ART_NAMES[name] ?? name, value] as const);

/** Ordinal of the job's last logged line; -1: none. */
function lastLogged(mark: unknown, jobId: string): number {
  const [id, ordinal] = typeof mark === 'string' ? mark.split(' ') : [];
  return id === jobId ? Number(ordinal) : -1;
}

/** The library numbers new lines after the `_step` of the run's last line. */
function nextStep(last: string | undefined, historyLines: number): number {
  const step = last === undefined ? undefined : readLoggedObject(last)?.['_step'];
  return typeof step === 'number' ? step + 1 : historyLines;
}
