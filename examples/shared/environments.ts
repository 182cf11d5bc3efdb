// Reinforcement learning in multi-turn environments, over HTTP: play each scenario a few times, send the groups back, play with the next
// checkpoint. An environment defines what happens in a conversation and its reward.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { createClient, gather, type Client, type Model, type Trajectory } from '#client/client';
import { bar, curve } from './chart.ts';
import { heldOutReward, heldOutRequest, type HeldOut } from './held-out.ts';
import { inferenceName } from './inference-name.ts';
import { KEEP, showUntilInterrupted } from './looking.ts';
import { startServer } from './server.ts';
import { mean } from './statistics.ts';
import { trainGroups } from './train-groups.ts';

export type Message = OpenAI.Chat.ChatCompletionMessageParam;
export type Tool = OpenAI.Chat.ChatCompletionFunctionTool;
export type Choice = OpenAI.Chat.ChatCompletion.Choice;

/** One sampled turn of the model. */
export type Ask = (messages: readonly Message[], tools?: readonly Tool[]) => Promise<Choice>;

/** The first messages, the same for all rollouts of the scenario: their rewards are compared with each other. */
export interface Scenario {
  /** Distinguishes this scenario from others for readers of its group. */
  readonly about?: Readonly<Record<string, unknown>>;
  play(ask: Ask): Promise<Trajectory>;
}

export interface Environment {
  readonly name: string;
  scenarios(step: number): readonly Scenario[];
  readonly rolloutsPerScenario: number;
  readonly steps: number;
  readonly maxTokens: number;
  /** experimental_config of the jobs. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Prompts that every checkpoint answers. */
  readonly heldOut?: HeldOut;
  /** What the mean reward must gain from the first three steps to the last three. */
  readonly gainMin: number;
}

const BASE_MODEL = 'whetstone/starter';
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Starts a server, runs all steps and draws the curve; the exit code says whether the reward rose. */
export async function learn(environment: Environment): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'whetstone-example-'));
  const startMs = performance.now();
  const server = await startServer(data);
  try {
    const client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
    const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey });
    const model = await client.registerModel({
      project: 'examples',
      name: environment.name.replaceAll(' ', '-'),
      base_model: BASE_MODEL,
    });
    const rewards: number[] = [];
    let lastJobId = '';
    for (let step = 0; step < environment.steps; step++) {
      const { reward, jobId, gradientSteps } = await trainStep(environment, step, openai, client, model);
      rewards.push(reward);
      lastJobId = jobId;
      const { heldOut } = environment;
      const heldOutText = heldOut ? `, held-out ${(await heldOutReward(client, jobId, heldOut)).toFixed(3)}` : '';
      const number = String(step + 1).padStart(2);
      say(`  step ${number}  ${bar(reward)} ${reward.toFixed(3)}   ${gradientSteps} gradient steps${heldOutText}`);
    }
    const [before, after] = [mean(rewards.slice(0, 3)), mean(rewards.slice(-3))];
    say(`\n${curve(`Mean reward, ${environment.name}`, rewards)}`);
    const minutes = ((performance.now() - startMs) / 60_000).toFixed(1);
    say(`\n${before.toFixed(3)} → ${after.toFixed(3)} (means of three steps) in ${minutes} minutes`);
    if (after - before < environment.gainMin) {
      say(`The reward rose by less than ${environment.gainMin}, the expected minimum.`);
      process.exitCode = 1;
    }
    if (KEEP)
      await showUntilInterrupted(server, [{ name: environment.name, modelId: model.id, jobId: lastJobId }], say);
  } finally {
    await server.stop();
    await rm(data, { recursive: true, force: true });
  }
}

/** Returns the mean reward of the rollouts, which were sampled from the checkpoint before the step. */
async function trainStep(environment: Environment, step: number, openai: OpenAI, client: Client, model: Model) {
  const name = inferenceName(model);
  const { groups, reward } = await gather(
    environment.scenarios(step),
    (scenario, { group, rollout, signal }) => {
      let seed = ((step * 1024 + group) * 64 + rollout) * 64; // every turn of every rollout draws its own numbers
      return scenario.play(async (messages, tools) => {
        const request = {
          model: name,
          messages: [...messages],
          ...(tools ? { tools: [...tools] } : {}),
          temperature: 1,
          max_tokens: environment.maxTokens,
          seed: seed++,
        };
        return (await openai.chat.completions.create(request, { signal })).choices[0]!;
      });
    },
    {
      rollouts: environment.rolloutsPerScenario,
      concurrency: Infinity, // the server has its own queue
      metadata: ({ about = {} }) => about,
    },
  );
  const { config, heldOut } = environment;
  const evaluation = heldOut ? heldOutRequest(heldOut) : null;
  const job = { model_id: model.id, trajectory_groups: groups, experimental_config: config, evaluation };
  return { ...(await trainGroups(client, job)), reward };
}
