// Whetstone in the bench time-to-reward: a server as users start it, and a loop as they write it. With the trainer `torch` two workers
// compute: the embedded engine samples, and whetstone-worker trains in PyTorch. Costs are those of the server and its workers.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pushArtifact } from '#client/artifact-files';
import { createClient, gather, type Client } from '#client/client';
import { startBenchServer } from './bench-server.ts';
import {
  DPO_BETA,
  indexesOf,
  RL_RATE,
  ROWS_PER_STEP,
  ROWS_RATE,
  type RlContestant,
  type RlJob,
  type RowsJob,
  type RowsResult,
} from './contestant.ts';
import { costOf } from './process-tree.ts';
import { replyTo, type RewardTask, type Task } from './reward-tasks.ts';

const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
/** The peer's processes have none lower, and a busy machine would show it. */
const SAME_PRIORITY = { WHETSTONE_TRAINER_NICE: '0' };
const CONNECT_DEADLINE_MS = 120_000;

/** `embedded`: the server's own engines. `torch`: the Python interpreter that has whetstone-worker. */
export type TrainerChoice = { readonly kind: 'embedded' } | { readonly kind: 'torch'; readonly python: string };

interface Whetstone {
  readonly client: Client;
  readonly baseModel: string;
  readonly pids: readonly number[];
  readonly close: () => Promise<void>;
}

async function start(model: string, trainer: TrainerChoice): Promise<Whetstone> {
  const data = await mkdtemp(join(tmpdir(), 'whetstone-reward-'));
  const isEmbedded = trainer.kind === 'embedded';
  const server = await startBenchServer(data, SAME_PRIORITY, {
    flags: [isEmbedded ? '--model' : '--worker-model', model],
  });
  const client = createClient({ baseUrl: server.url, apiKey: server.key });
  const [baseModel] = await client.listBaseModels();
  const env = { ...process.env, WHETSTONE_URL: server.url, WHETSTONE_API_KEY: server.key };
  const startWorker = (command: string, args: readonly string[], role: string) =>
    spawn(command, [...args, 'run', '--model', model, '--roles', role], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const workers = isEmbedded
    ? []
    : [
        startWorker(process.execPath, [CLI, 'workers'], 'sample'),
        startWorker(trainer.python, ['-m', 'whetstone_worker'], 'train'),
      ];
  const kill = () => workers.forEach((worker) => worker.kill('SIGKILL'));
  process.once('exit', kill);
  const deadlineMs = performance.now() + CONNECT_DEADLINE_MS;
  while ((await client.listWorkers()).length < workers.length) {
    if (performance.now() > deadlineMs)
      throw new Error(`The workers did not connect within ${CONNECT_DEADLINE_MS} ms.`);
    await pause(200);
  }
  return {
    client,
    baseModel: baseModel!,
    pids: [server.pid, ...workers.map(({ pid }) => pid!)],
    async close() {
      const ended = workers.map((worker) => once(worker, 'exit'));
      workers.forEach((worker) => worker.kill('SIGTERM'));
      await Promise.all(ended);
      process.off('exit', kill);
      await server.stop();
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** One conversation to its end, with its reward. */
async function play(client: Client, model: string, kind: RewardTask, task: Task, seed: number) {
  const ask = async (messages: { role: string; content: string }[], turn: number) => {
    const [max_tokens, many] = [kind.maxTokens[turn]!, kind.maxTokens.length === 1 ? kind.answersPerTask : 1];
    const settings = { n: many, temperature: 1, max_tokens, seed: seed + turn, return_token_ids: true };
    return (await client.chat({ model, messages, ...settings } as never)).choices;
  };
  const question = { role: 'user', content: task.question };
  const firsts = await ask([question], 0);
  const said = ({ message }: (typeof firsts)[number]) => message.content ?? '';
  if (!task.first)
    return firsts.map((choice) => ({
      messages_and_choices: [question, choice],
      reward: kind.rewardOf(task, [said(choice)]),
    }));
  const [first] = firsts;
  const reply = { role: 'user', content: replyTo(task, said(first!)) };
  const [last] = await ask([question, { role: 'assistant', content: said(first!) }, reply], 1);
  const reward = kind.rewardOf(task, [said(first!), said(last!)]);
  return [{ messages_and_choices: [question, first, reply, last], reward }];
}

/** `promptTokens`: of the first task. */
export async function openWhetstoneRl(
  model: string,
  trainer: TrainerChoice,
  { task }: RlJob,
): Promise<RlContestant & { readonly promptTokens: readonly number[] }> {
  const { client, baseModel, pids, close } = await start(model, trainer);
  const { id: model_id } = await client.registerModel({ project: 'bench', name: 'reward', base_model: baseModel });
  const name = 'bench/reward';
  const asked = { model: name, messages: [{ role: 'user', content: task.taskAt(0).question }], max_tokens: 1 };
  const answer: unknown = await client.chat({ ...asked, return_token_ids: true } as never);
  const { prompt_token_ids: promptTokens } = answer as { readonly prompt_token_ids: readonly number[] };
  const isOneTurn = task.maxTokens.length === 1;

  async function step(index: number): Promise<number> {
    const tasks = indexesOf(task, index).map(task.taskAt);
    const { groups, reward } = await gather(
      tasks,
      (each, { group, rollout }) =>
        play(client, name, task, each, 1000 * (index * task.tasksPerStep + group) + 2 * rollout) as never,
      { rollouts: isOneTurn ? 1 : task.answersPerTask, concurrency: 64 },
    );
    await client.train({ model_id, trajectory_groups: groups, experimental_config: { learning_rate: RL_RATE } });
    return reward;
  }
  return {
    promptTokens,
    async step(index) {
      const [reward, cost] = await costOf(pids, () => step(index));
      return { reward, cost };
    },
    close,
  };
}

export async function runWhetstoneRows(model: string, trainer: TrainerChoice, job: RowsJob): Promise<RowsResult> {
  const whetstone = await start(model, trainer);
  const { client, baseModel, pids } = whetstone;
  const scratch = await mkdtemp(join(tmpdir(), 'whetstone-rows-'));
  try {
    const { id: model_id, entity } = await client.registerModel({
      ...{ project: 'bench', name: 'rows', base_model: baseModel },
    });
    const file = join(scratch, 'train.jsonl');
    await writeFile(file, job.rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const losses: number[] = [];
    const [, cost] = await costOf(pids, async () => {
      const { uri } = await pushArtifact(client, `${entity}/bench/examples`, file, { type: 'dataset' });
      const config = { learning_rate: ROWS_RATE, batch_size: ROWS_PER_STEP };
      const request = { model_id, training_data_url: uri };
      const follow = {
        onEvent({ type, data }: { type: string; data: Readonly<Record<string, unknown>> }) {
          if (type === 'gradient_step') losses.push(Number(data['loss']));
        },
      };
      if (job.kind === 'sft') await client.train({ ...request, config }, follow);
      else await client.trainDpo({ ...request, config: { ...config, beta: DPO_BETA } }, follow);
    });
    return { losses, cost };
  } finally {
    await whetstone.close();
    await rm(scratch, { recursive: true, force: true });
  }
}
