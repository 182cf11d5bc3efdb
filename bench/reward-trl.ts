// The peer of the bench time-to-reward: TRL in a process of its own (python/bench/trl_train.py), which asks for rewards and for what
// an environment says, and waits before each step.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  DPO_BETA,
  indexesOf,
  mean,
  RL_RATE,
  ROWS_PER_STEP,
  ROWS_RATE,
  type RlContestant,
  type RlJob,
  type RowsJob,
  type RowsResult,
} from './contestant.ts';
import { costOf } from './process-tree.ts';
import { replyTo, type Task } from './reward-tasks.ts';

const SCRIPT = fileURLToPath(new URL('../python/bench/trl_train.py', import.meta.url));

interface Answer {
  readonly ready?: readonly number[];
  readonly holds?: number;
  readonly stepped?: number;
  readonly losses?: readonly number[];
  readonly reply?: { readonly questions: readonly string[]; readonly answers: readonly string[] };
  readonly reward?: { readonly questions: readonly string[]; readonly turns: readonly (readonly string[])[] };
}

/** The process, after it has loaded the model and the rows. */
async function startTrl(python: string, job: object) {
  const scratch = await mkdtemp(join(tmpdir(), 'whetstone-trl-'));
  const child = spawn(python, [SCRIPT, 'train'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, HF_HUB_OFFLINE: '1', TRL_EXPERIMENTAL_SILENCE: '1', TOKENIZERS_PARALLELISM: 'false' },
  });
  const exited = once(child, 'exit');
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-5_000)));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const say = (message: unknown) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const next = async (): Promise<Answer> => {
    const line = await lines.next();
    if (line.done) throw new Error(`TRL's process ended:\n${words}`);
    return JSON.parse(line.value) as Answer;
  };
  const close = async (): Promise<void> => {
    child.stdin.end();
    kill();
    await exited;
    process.off('exit', kill);
    await rm(scratch, { recursive: true, force: true });
  };
  say({ ...job, scratch, threads: availableParallelism() });
  const { ready } = await next();
  return {
    pid: child.pid!,
    promptTokens: ready!,
    say,
    next,
    close,
  };
}

const messagesOf = ({ question }: Task) => [{ role: 'user', content: question }];

/** `promptTokens`: of the first task. */
export async function openTrlRl(
  python: string,
  model: string,
  { task, steps }: RlJob,
): Promise<RlContestant & { readonly promptTokens: readonly number[] }> {
  const tasks = Array.from({ length: steps }, (_, step) => indexesOf(task, step).map(task.taskAt)).flat();
  const byQuestion = new Map(tasks.map((each) => [each.question, each]));
  const { tasksPerStep, answersPerTask, maxTokens } = task;
  const atOnce = task.trlAtOnce ?? tasksPerStep * answersPerTask;
  const settings = { learningRate: RL_RATE, beta2: 0.99, weightDecay: 0.1, maxGradNorm: 0.1 };
  const rows = tasks.map((each) => ({ prompt: messagesOf(each) }));
  const asked = { kind: 'rl', model, steps, tasksPerStep, answersPerTask, atOnce, maxTokens, rows, ...settings };
  const trl = await startTrl(python, asked);
  trl.say('go on'); // to the first step, at which it waits again

  async function step(): Promise<number> {
    let rewards: readonly number[] = [];
    for (;;) {
      const { reward, reply, stepped } = await trl.next();
      if (reply) trl.say(reply.questions.map((question, i) => replyTo(byQuestion.get(question)!, reply.answers[i]!)));
      else if (reward) {
        rewards = reward.questions.map((question, i) => task.rewardOf(byQuestion.get(question)!, reward.turns[i]!));
        trl.say(rewards);
      } else if (stepped !== undefined) return mean(rewards);
    }
  }
  return {
    promptTokens: trl.promptTokens,
    async step() {
      await trl.next(); // it holds
      const [reward, cost] = await costOf([trl.pid], () => {
        trl.say('go on');
        return step();
      });
      return { reward, cost };
    },
    close: trl.close,
  };
}

export async function runTrlRows(python: string, model: string, { kind, rows, steps }: RowsJob): Promise<RowsResult> {
  const settings = { learningRate: ROWS_RATE, beta2: 0.999, weightDecay: 0.01, maxGradNorm: 1 };
  const trl = await startTrl(python, {
    ...{ kind, model, steps, rows, batchSize: ROWS_PER_STEP, beta: DPO_BETA },
    ...settings,
  });
  try {
    const [losses, cost] = await costOf([trl.pid], async () => {
      trl.say('go on');
      for (;;) {
        const { losses } = await trl.next();
        if (losses) return losses;
      }
    });
    return { losses, cost };
  } finally {
    await trl.close();
  }
}
