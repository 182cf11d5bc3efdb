// `npm run demo`: starts a server, runs reinforcement learning over HTTP on two tasks, and prints the curves. Exits with 1 if a reward
// did not rise as the README promises. With --keep the server keeps running, so that you can look at the run in its dashboard.
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import OpenAI from 'openai';
import { createClient, type Client } from '#client/client';
import { bar, curve } from '../shared/chart.ts';
import { inferenceName } from '../shared/inference-name.ts';
import { evaluate, reinforce, type Task } from './rl-loop.ts';
import { addressLines, KEEP, showUntilInterrupted, type Run } from '../shared/looking.ts';
import { startServer, type RunningServer } from '../shared/server.ts';
import { addition, heldOutAdditions, yesNoMaybe } from './tasks.ts';

const BASE_MODEL = 'whetstone/starter';
const PROJECT = 'demo';
const DATA_DIRECTORY = resolve('.whetstone/demo');
const HELD_OUT_PAIRS = 64;
const WORDS_REWARD_MIN = 0.95;
const ADDITION_GAIN_MIN = 0.2;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function learn(openai: OpenAI, client: Client, task: Task, name: string) {
  const model = await client.registerModel({ project: PROJECT, name, base_model: BASE_MODEL });
  const rewards: number[] = [];
  let jobId = '';
  say(`\n${task.name}: ${task.steps} steps, groups of ${task.rolloutsPerPrompt}`);
  for await (const report of reinforce(openai, client, model, task)) {
    rewards.push(report.reward);
    jobId = report.jobId;
    const cost = `${report.rollouts} rollouts, ${report.gradientSteps} gradient steps, ${report.seconds.toFixed(1)} s`;
    say(`  step ${String(report.step).padStart(2)}  ${bar(report.reward)} ${report.reward.toFixed(3)}   ${cost}`);
  }
  return { model, rewards, run: { name: task.name, modelId: model.id, jobId } };
}

async function run(server: RunningServer): Promise<{ learned: boolean; runs: readonly Run[] }> {
  const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey });
  const client = createClient({ baseUrl: server.url, apiKey: server.apiKey });

  const words = await learn(openai, client, yesNoMaybe, 'yes-no-maybe');
  const wordsAfter = await evaluate(openai, inferenceName(words.model), yesNoMaybe, yesNoMaybe.prompts(0));

  const heldOut = heldOutAdditions(HELD_OUT_PAIRS);
  const sumsBefore = await evaluate(openai, BASE_MODEL, addition, heldOut);
  const sums = await learn(openai, client, addition, 'addition');
  const sumsAfter = await evaluate(openai, inferenceName(sums.model), addition, heldOut);

  say(`\n${curve('Mean reward, yes / no / maybe (yes 0.5, no 0.75, maybe 1)', [...words.rewards, wordsAfter])}`);
  say(`\n${curve('Mean reward, addition', sums.rewards)}`);
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  say(`\nyes / no / maybe: ${words.rewards[0]!.toFixed(3)} → ${wordsAfter.toFixed(3)}`);
  say(
    `addition, ${HELD_OUT_PAIRS} held-out pairs × ${addition.rolloutsPerPrompt} samples: ${percent(sumsBefore)} → ${percent(sumsAfter)}`,
  );
  say(`adapters: ${join(DATA_DIRECTORY, 'blobs')}, one directory per checkpoint (PEFT format)`);
  say(`serve them again: node dist/cli.js serve --data ${DATA_DIRECTORY}, model ${inferenceName(sums.model)}`);

  const learned = wordsAfter >= WORDS_REWARD_MIN && sumsAfter - sumsBefore >= ADDITION_GAIN_MIN;
  if (!learned)
    say(
      `\nThe rewards did not rise as promised: ≥ ${WORDS_REWARD_MIN} and + ${100 * ADDITION_GAIN_MIN} points were expected.`,
    );
  return { learned, runs: [words.run, sums.run] };
}

await rm(DATA_DIRECTORY, { recursive: true, force: true });
await mkdir(DATA_DIRECTORY, { recursive: true });
const started = performance.now();
const server = await startServer(DATA_DIRECTORY);
say(`whetstone is ready at ${server.url} after ${((performance.now() - started) / 1000).toFixed(1)} s`);
let learned = false;
try {
  const result = await run(server);
  learned = result.learned;
  if (KEEP) await showUntilInterrupted(server, result.runs, say);
  else {
    say(
      '\nIts dashboard pages (the server stops with the demo; npm run demo -- --keep leaves it running and prints the key):',
    );
    addressLines(server, result.runs).forEach(say);
  }
} finally {
  await server.stop();
}
say(`\n${learned ? 'Done' : 'Failed'} after ${((performance.now() - started) / 1000).toFixed(0)} s.`);
process.exitCode = learned ? 0 : 1;
