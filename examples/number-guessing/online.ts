// node --import tsx -C source examples/number-guessing/online.ts
// The game of run.ts once more, for an agent that exists already (agent.ts): it gets an address, its runs get rewards, and the server
// trains whenever a round of groups is complete.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import OpenAI from 'openai';
import { createClient, type Client, type Model } from '#client/client';
import { bar, curve } from '../shared/chart.ts';
import { startServer } from '../shared/server.ts';
import { mean } from '../shared/statistics.ts';
import { findNumber } from './agent.ts';
import { numberGuessing } from './game.ts';

const { config, gainMin, rolloutsPerScenario: runs, steps } = numberGuessing;
const SECRETS = Array.from({ length: 20 }, (_, i) => i + 1);
const STEP_DEADLINE_MS = 10 * 60_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Every secret so many times, all at once. Returns the mean reward. */
async function playRound(client: Client, apiKey: string, round: number): Promise<number> {
  const played = SECRETS.flatMap((secret) =>
    Array.from({ length: runs }, async () => {
      const episode = await client.episode({ model: 'examples/guesser', group: `round${round}-secret${secret}` });
      const openai = new OpenAI({ baseURL: episode.baseUrl, apiKey });
      const guesses = await findNumber(openai, 'examples/guesser', secret);
      const reward = guesses === null ? 0 : 1 - (guesses - 1) / 7;
      await episode.reward(reward);
      return reward;
    }),
  );
  return mean(await Promise.all(played));
}

async function waitForStep(client: Client, { id }: Model, step: number): Promise<void> {
  const deadline = AbortSignal.timeout(STEP_DEADLINE_MS);
  for (;;) {
    const { step: latest, status, waiting_for: waitingFor } = await client.getOnlineTraining(id);
    if (latest >= step) return;
    if (status === 'paused' || deadline.aborted) throw new Error(waitingFor);
    await setTimeout(200);
  }
}

const data = await mkdtemp(join(tmpdir(), 'whetstone-example-'));
const server = await startServer(data);
try {
  const client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
  const model = await client.registerModel({ project: 'examples', name: 'guesser', base_model: 'whetstone/starter' });
  await client.setOnlineTraining(model.id, {
    groups_per_step: SECRETS.length,
    group_size_min: runs,
    until_step: steps,
    experimental_config: config,
  });
  const rewards: number[] = [];
  for (let step = 1; step <= steps; step++) {
    const reward = await playRound(client, server.apiKey, step);
    rewards.push(reward);
    say(`  step ${String(step).padStart(2)}  ${bar(reward)} ${reward.toFixed(3)}`);
    await waitForStep(client, model, step);
  }
  const [before, after] = [mean(rewards.slice(0, 3)), mean(rewards.slice(-3))];
  say(
    `\n${curve('Mean reward of the agent', rewards)}\n\n${before.toFixed(3)} → ${after.toFixed(3)} (means of three steps)`,
  );
  if (after - before < gainMin) process.exitCode = 1;
} finally {
  await server.stop();
  await rm(data, { recursive: true, force: true });
}
