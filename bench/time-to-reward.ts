// `npm run bench -- time-to-reward`: what a step of learning costs on a real model, against TRL: processor seconds, seconds, peak memory,
// and the reward by step. SmolLM2-135M-Instruct in float32; the same prompts, rewards, samples, rank, rate and optimiser. Contestants
// alternate step by step; with long answers one follows the other, because both together may not fit into memory.
// `--task NAME,…` or `--length short|middling|long` measures some of the tasks, `--steps N` fewer steps (10), and `--groups N` fewer
// prompts per step (a trial: nothing is written). `--trainer torch` trains with the PyTorch worker. Results go to
// bench/results/time-to-reward/<processor>.json, where a task's new result replaces its last.
// Threads that wait for each other spin, in both: on a machine that does other work, `taskset --cpu-list 0` in front of the command
// gives every process one thread, and then only processor seconds can be quoted.
//   WHETSTONE_BENCH_PYTHON="$(scripts/python-env.sh bench)" npm run bench -- time-to-reward --length short
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { mean, ROWS_PER_STEP, type RlContestant, type RlStep, type RowsJob } from './contestant.ts';
import { median, say } from './measurement.ts';
import { processor } from './processor.ts';
import type { Cost } from './process-tree.ts';
import { REWARD_TASKS, topicAt, TOPIC_NAMES } from './reward-tasks.ts';
import { openTrlRl, runTrlRows } from './reward-trl.ts';
import { openWhetstoneRl, runWhetstoneRows, type TrainerChoice } from './reward-whetstone.ts';

const { values: flags } = parseArgs({
  options: {
    task: { type: 'string' },
    length: { type: 'string' },
    steps: { type: 'string', default: '10' },
    /** Prompts per step, for a trial. */
    groups: { type: 'string' },
    trainer: { type: 'string', default: 'embedded' },
  },
});
const steps = Number(flags.steps);
const KINDS = ['sft', 'dpo'] as const;
const ALL = [...Object.keys(REWARD_TASKS), ...KINDS];
const ofLength = ALL.filter((name) => flags.length === undefined || REWARD_TASKS[name]?.length === flags.length);
const wanted = flags.task?.split(',') ?? ofLength;
const unknown = wanted.find((name) => !ALL.includes(name));
if (unknown !== undefined) throw new Error(`unknown --task ${unknown}; known are ${ALL.join(', ')}`);
if (wanted.length === 0) throw new Error(`unknown --length ${flags.length}; known are short, middling, long`);

const trlPython = pythonOf('WHETSTONE_BENCH_PYTHON', 'bench');
const trainer: TrainerChoice =
  flags.trainer === 'torch'
    ? { kind: 'torch', python: pythonOf('WHETSTONE_WORKER_PYTHON', 'worker') }
    : { kind: 'embedded' };
if (flags.trainer !== trainer.kind) throw new Error(`unknown --trainer ${flags.trainer}; known are embedded, torch`);

function pythonOf(variable: string, name: string): string {
  const python = process.env[variable];
  if (!python) throw new Error(`Set ${variable}="$(scripts/python-env.sh ${name})".`);
  return python;
}

/** By step in RL; of the whole job for SFT and DPO. */
interface Side {
  readonly rewards?: readonly number[];
  readonly losses?: readonly number[];
  readonly seconds: readonly number[];
  readonly processorSeconds: readonly number[];
  readonly peakBytes: number;
}

interface Result {
  readonly task: string;
  readonly trainer: string;
  readonly steps: number;
  /** Mean number of other runnable threads before the measurement: above 0.5, only processor seconds can be quoted. */
  readonly load: number;
  readonly whetstone: Side;
  readonly trl: Side;
}

const costs = (all: readonly Cost[]) => ({
  seconds: all.map((cost) => round(cost.seconds)),
  processorSeconds: all.map((cost) => round(cost.processorSeconds)),
  peakBytes: Math.max(...all.map(({ peakBytes }) => peakBytes)),
});
const round = (x: number): number => Number(x.toPrecision(4));

/** SmolLM2 as a directory in float32, which both load. */
async function fetchModel(): Promise<string> {
  const directory = resolve('.whetstone/models/SmolLM2-135M-Instruct-float32');
  if (existsSync(`${directory}/tokenizer.json`)) return directory;
  const gguf = execFileSync('bash', ['examples/real-model/fetch.sh'], { encoding: 'utf8' }).trim();
  execFileSync(trlPython, ['python/bench/trl_train.py', 'convert', gguf, directory], { stdio: 'inherit' });
  return directory;
}

async function measureRl(name: string, model: string): Promise<Pick<Result, 'whetstone' | 'trl'>> {
  const known = REWARD_TASKS[name]!;
  const task = { ...known, tasksPerStep: Number(flags.groups ?? known.tasksPerStep) };
  const opened = {
    whetstone: () => openWhetstoneRl(model, trainer, { task, steps }),
    trl: () => openTrlRl(trlPython, model, { task, steps }),
  };
  const side = (results: readonly RlStep[]): Side => ({
    rewards: results.map(({ reward }) => round(reward)),
    ...costs(results.map(({ cost }) => cost)),
  });
  async function run(contestants: readonly (readonly [name: string, contestant: RlContestant])[]): Promise<Side[]> {
    const results = contestants.map((): RlStep[] => []);
    for (let index = 0; index < steps; index++) {
      for (const [i, [contestant, { step }]] of contestants.entries()) {
        const result = await step(index);
        results[i]!.push(result);
        const { seconds, processorSeconds } = result.cost;
        say(
          `  step ${index + 1}, ${contestant}: reward ${result.reward.toFixed(2)}, ${processorSeconds.toFixed(1)} processor s, ${seconds.toFixed(1)} s`,
        );
      }
    }
    for (const [, contestant] of contestants) await contestant.close();
    return results.map(side);
  }
  if (task.length === 'long') {
    const [whetstone] = await run([['Whetstone', await opened.whetstone()]]);
    const [trl] = await run([['TRL', await opened.trl()]]);
    return { whetstone: whetstone!, trl: trl! };
  }
  const [ours, theirs] = [await opened.whetstone(), await opened.trl()];
  if (String(ours.promptTokens) !== String(theirs.promptTokens)) throw new Error('The prompts have different tokens.');
  const [whetstone, trl] = await run([
    ['Whetstone', ours],
    ['TRL', theirs],
  ]);
  return { whetstone: whetstone!, trl: trl! };
}

/** Rows of topics: the right word, and for DPO a wrong one beside it. */
function rowsOf(kind: 'sft' | 'dpo'): RowsJob {
  const rows = Array.from({ length: steps * ROWS_PER_STEP }, (_, i) => {
    const { question, answer } = topicAt(i);
    const said = (content: string) => [{ role: 'assistant', content }];
    const prompt = [{ role: 'user', content: question }];
    const wrong = TOPIC_NAMES[(TOPIC_NAMES.indexOf(answer) + 1) % TOPIC_NAMES.length]!;
    return kind === 'sft'
      ? { prompt, completion: said(answer) }
      : { prompt, chosen: said(answer), rejected: said(wrong) };
  });
  return { kind, rows, steps };
}

async function measureRows(kind: 'sft' | 'dpo', model: string): Promise<Pick<Result, 'whetstone' | 'trl'>> {
  const job = rowsOf(kind);
  const [ours, theirs] = [await runWhetstoneRows(model, trainer, job), await runTrlRows(trlPython, model, job)];
  const side = ({ losses, cost }: typeof ours): Side => ({ losses: losses.map(round), ...costs([cost]) });
  return { whetstone: side(ours), trl: side(theirs) };
}

function show({ task, whetstone, trl }: Result): void {
  const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(1);
  const both = (of: (side: Side) => number, digits = 1) =>
    `${of(whetstone).toFixed(digits)} against ${of(trl).toFixed(digits)}`;
  const processorSeconds = (side: Side) => median(side.processorSeconds);
  const last = ({ rewards, losses }: Side) => (rewards ? mean(rewards.slice(-3)) : losses!.at(-1)!);
  say(
    `${task}: ${both(processorSeconds)} processor s (${(processorSeconds(trl) / processorSeconds(whetstone)).toFixed(1)}x), ` +
      `${both(({ seconds }) => median(seconds))} s, ${gigabytes(whetstone.peakBytes)} against ${gigabytes(trl.peakBytes)} GB, ` +
      `${whetstone.rewards ? 'reward of the last three steps' : 'last loss'} ${both(last, 2)}`,
  );
}

const path = `bench/results/time-to-reward/${processor().fileName}.json`;
async function keep(result: Result): Promise<void> {
  const before = existsSync(path) ? (JSON.parse(await readFile(path, 'utf8')) as { results: Result[] }).results : [];
  const others = before.filter(({ task, trainer }) => task !== result.task || trainer !== result.trainer);
  const machine = { cpu: processor().name, threads: availableParallelism(), node: process.version };
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify({ ...machine, results: [...others, result] }, null, 2)}\n`);
}

const model = await fetchModel();
for (const task of wanted) {
  const load = round(loadavg()[0]!);
  say(`${task}, ${steps} steps, trainer ${trainer.kind}, load ${load}`);
  const kind = KINDS.find((each) => each === task);
  const sides = kind ? await measureRows(kind, model) : await measureRl(task, model);
  const result = { task, trainer: trainer.kind, steps, load, ...sides };
  show(result);
  if (flags.groups === undefined) await keep(result);
}
if (flags.groups === undefined) say(`written to ${path}`);
