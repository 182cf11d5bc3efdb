// How fast a LoRA step is: for a row, for a group that shares its prompt, and for rows of other lengths on a free and on a busy machine;
// compared with PyTorch + PEFT on the same shapes.
import { spawn } from 'node:child_process';
import type { LossProgram } from '#engine/loss-program';
import type { TrainingRow } from '#engine/training-engine';
import { policyLoss } from '#training/losses';
import { resolveRlConfig } from '#training/rl-config';
import { median, say, type Measurement } from './measurement.ts';
import { timePytorch } from './pytorch.ts';
import type { SamplingBench } from './sampling-speeds.ts';
import { BENCH_LOSS, groupRow, timeTraining, wholeRow, type TrainingTimes } from './training.ts';

const ROW_TOKENS = 512;
/** A group whose prompt is twice its completions. */
const [TRAINED_GROUP, GROUP_PROMPT, GROUP_COMPLETION] = [8, 192, 96];
const ROW_LENGTHS = [64, 256, 512, 2048];
/** Short examples, which we pack into one row and a peer pads to one batch. */
const [EXAMPLES, EXAMPLE_TOKENS] = [20, 100];

/** `ours` and `peers` do the same work: tokens of `counted` per step. */
async function compareTraining(
  what: string,
  counted: number,
  ours: () => Promise<TrainingTimes>,
  peers: readonly (() => Promise<TrainingTimes | null>)[],
): Promise<Measurement> {
  const times = [await ours()];
  for (const peer of peers) {
    const time = await peer();
    if (time) times.push(time);
    else say('PyTorch is left out: set WHETSTONE_PYTHON to an interpreter that has torch, transformers and peft.');
  }
  const rates = times.map(({ name, stepMs }) => [name, (counted / median(stepMs.slice(2))) * 1000] as const);
  return { what, unit: 'tokens/s', tokensPerSecond: Object.fromEntries(rates) };
}

export async function* benchTraining({
  config,
  modelDirectory,
  threads,
  rounds,
}: SamplingBench): AsyncGenerator<Measurement> {
  const steps = rounds + 2;
  const pytorch = (dtype: 'float32' | 'bfloat16', shape: { tokens: number; prompt?: number; group?: number }) => () =>
    timePytorch(config, { ...shape, steps, threads, dtype });
  const ours = (row: TrainingRow, loss: LossProgram) => () => timeTraining(modelDirectory, row, loss, steps, threads);
  const whole = { tokens: ROW_TOKENS };
  const group = { tokens: GROUP_PROMPT + GROUP_COMPLETION, prompt: GROUP_PROMPT, group: TRAINED_GROUP };
  const row = groupRow(TRAINED_GROUP, GROUP_PROMPT, GROUP_COMPLETION, config.vocab);
  yield await compareTraining(
    `LoRA step, row of ${ROW_TOKENS}`,
    ROW_TOKENS,
    ours(wholeRow(ROW_TOKENS, config.vocab), BENCH_LOSS),
    [pytorch('float32', whole), pytorch('bfloat16', whole)],
  );
  yield await compareTraining(
    `group of ${TRAINED_GROUP}, ${GROUP_PROMPT} + ${GROUP_COMPLETION}`,
    TRAINED_GROUP * GROUP_COMPLETION,
    ours(row, policyLoss(resolveRlConfig({}).loss)),
    [pytorch('float32', group), pytorch('bfloat16', group)],
  );
}

/** Free, and then beside a process that computes all the time. */
export async function* benchRowLengths(bench: SamplingBench): AsyncGenerator<Measurement> {
  const { config, modelDirectory, threads, rounds } = bench;
  const steps = rounds + 2;
  const examples = groupRow(EXAMPLES, 1, EXAMPLE_TOKENS - 1, config.vocab);
  const packed = {
    what: `${EXAMPLES} examples of ${EXAMPLE_TOKENS}`,
    row: examples,
    tokens: EXAMPLE_TOKENS,
    group: EXAMPLES,
  };
  const rows = ROW_LENGTHS.map((tokens) => ({
    what: `row of ${tokens}`,
    row: wholeRow(tokens, config.vocab),
    tokens,
    group: 1,
  }));
  for (const circumstances of ['', ', beside a busy core']) {
    const other = circumstances === '' ? null : spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
    try {
      for (const { what, row, tokens, group } of [...rows, packed])
        yield await compareTraining(
          `${what}${circumstances}`,
          tokens * group,
          () => timeTraining(modelDirectory, row, BENCH_LOSS, steps, threads),
          [() => timePytorch(config, { tokens, group, steps, threads, dtype: 'float32' })],
        );
    } finally {
      other?.kill();
    }
  }
}
