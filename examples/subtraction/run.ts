// `npm run example:subtraction`: SFT on correct answers, then RL on the model's own answers, with all settings at their defaults. Three seeds
// draw different pairs and different initial adapter weights. Exits with 1 if either phase of a seed raised the held-out accuracy by less
// than twice its standard error.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import OpenAI from 'openai';
import { pushArtifact } from '#client/artifact-files';
import { createClient } from '#client/client';
import { evaluate, evaluateEach, reinforce } from '../demo/rl-loop.ts';
import { inferenceName } from '../shared/inference-name.ts';
import { bar } from '../shared/chart.ts';
import { addressLines, KEEP, showUntilInterrupted, type Run } from '../shared/looking.ts';
import { startServer, type RunningServer } from '../shared/server.ts';
import { mean, riseOf, type Rise } from '../shared/statistics.ts';
import { heldOutSubtractions, subtraction, subtractionExamples } from './task.ts';

const DATA_DIRECTORY = resolve('.whetstone/subtraction');
const SEEDS = [1, 2, 3];
const EXAMPLES = 1200;
const RL_JOBS = 60;
const JOBS_PER_MEASUREMENT = 20;
const STANDARD_ERRORS_MIN = 2;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const percent = (share: number): string => (100 * share).toFixed(1);

interface Phase {
  readonly name: 'SFT' | 'RL';
  readonly rise: Rise;
}

interface Learned {
  readonly summary: string;
  readonly phases: readonly Phase[];
  readonly run: Run;
}

async function learn(server: RunningServer, seed: number): Promise<Learned> {
  const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey });
  const client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
  const task = subtraction(seed, RL_JOBS);
  const model = await client.registerModel({
    ...{ project: 'examples', name: `subtraction-${seed}`, base_model: 'whetstone/starter', lora: { seed } },
  });
  const name = inferenceName(model);
  const measure = async (when: string) => {
    const sampled = await evaluateEach(openai, name, task, heldOutSubtractions);
    const greedy = await evaluate(openai, name, { ...task, rolloutsPerPrompt: 1 }, heldOutSubtractions, 0);
    const accuracy = mean(sampled);
    say(`  seed ${seed}  ${when.padEnd(12)} ${bar(accuracy)} ${percent(accuracy)} %, greedy ${percent(greedy)} %`);
    return sampled;
  };

  const before = await measure('before');
  const file = join(DATA_DIRECTORY, `examples-${seed}.jsonl`);
  const examples = subtractionExamples(seed, EXAMPLES);
  await writeFile(file, examples.map((example) => `${JSON.stringify(example)}\n`).join(''));
  const artifact = await pushArtifact(client, `${model.entity}/${model.project}/differences-${seed}`, file, {
    type: 'dataset',
  });
  await client.train({ model_id: model.id, training_data_url: artifact.uri });
  const afterSft = await measure('after SFT');

  let afterRl = afterSft;
  let jobId = '';
  for await (const report of reinforce(openai, client, model, task)) {
    jobId = report.jobId;
    if (report.step % JOBS_PER_MEASUREMENT === 0) afterRl = await measure(`${report.step} RL jobs`);
  }
  const phases: Phase[] = [
    { name: 'SFT', rise: riseOf(before, afterSft) },
    { name: 'RL', rise: riseOf(afterSft, afterRl) },
  ];
  const rises = phases.map(({ name, rise }) => `${name} +${percent(rise.by)} ± ${percent(rise.standardError)}`);
  const accuracies = [before, afterSft, afterRl].map((rewards) => percent(mean(rewards)));
  const summary = `seed ${seed}: ${accuracies.join(' → ')} % (${rises.join(', ')})`;
  return { summary, phases, run: { name: task.name, modelId: model.id, jobId } };
}

const hasRisen = ({ rise }: Phase): boolean => rise.by >= STANDARD_ERRORS_MIN * rise.standardError;

await rm(DATA_DIRECTORY, { recursive: true, force: true });
await mkdir(DATA_DIRECTORY, { recursive: true });
const startedMs = performance.now();
const server = await startServer(DATA_DIRECTORY);
let all: readonly Learned[];
try {
  const { rolloutsPerPrompt } = subtraction(0, 0);
  say(`${heldOutSubtractions.length} held-out differences × ${rolloutsPerPrompt} answers at temperature 1`);
  all = await Promise.all(SEEDS.map((seed) => learn(server, seed)));
  say('');
  for (const { summary } of all) say(summary);
  const runs = all.map(({ run }) => run);
  if (KEEP) await showUntilInterrupted(server, runs, say);
  else addressLines(server, runs).forEach(say);
} finally {
  await server.stop();
}
const rose = all.every(({ phases }) => phases.every(hasRisen));
say(`\n${rose ? 'Done' : 'Failed'} after ${((performance.now() - startedMs) / 1000).toFixed(0)} s.`);
process.exitCode = rose ? 0 : 1;
