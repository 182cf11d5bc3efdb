// `npm run example:dpo`: the starter answers sums carelessly. Its own answers become preference pairs, a correct one before a wrong one,
// and a DPO job learns from them. Exits with 1 if held-out sums did not become correct more often.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import OpenAI from 'openai';
import { pushArtifact } from '#client/artifact-files';
import { createClient, type TrainingEvent } from '#client/client';
import { evaluate } from '../demo/rl-loop.ts';
import { inferenceName } from '../shared/inference-name.ts';
import { addition, heldOutAdditions } from '../demo/tasks.ts';
import { bar } from '../shared/chart.ts';
import { addressLines, KEEP, showUntilInterrupted } from '../shared/looking.ts';
import { startServer, type RunningServer } from '../shared/server.ts';
import { pairsOfSums, SUMS_CONFIG } from './pairs.ts';

const DATA_DIRECTORY = resolve('.whetstone/dpo');
const HELD_OUT = 64;
const GAIN_MIN = 0.2;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function sayStep({ type, data }: TrainingEvent): void {
  if (type !== 'gradient_step' || (data['gradient_step']! - 1) % 4 !== 0) return;
  const [accuracy, margin] = [data['rewards/accuracies']!, data['rewards/margins']!];
  const figures = `${accuracy.toFixed(2)} preferred, margin ${margin.toFixed(2)}, loss ${data['loss']!.toFixed(3)}`;
  say(`  ${String(data['gradient_step']).padStart(3)}  ${bar(accuracy)} ${figures}`);
}

async function run(server: RunningServer): Promise<boolean> {
  const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey });
  const client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
  const model = await client.registerModel({ project: 'examples', name: 'dpo', base_model: 'whetstone/starter' });
  const name = inferenceName(model);
  const heldOut = heldOutAdditions(HELD_OUT);
  const before = await evaluate(openai, name, addition, heldOut);

  const { sums, pairs } = await pairsOfSums(client, name);
  say(`${pairs.length} pairs of ${sums} sums: of four answers, a right one and a wrong one`);
  const file = join(DATA_DIRECTORY, 'train.jsonl');
  await writeFile(file, pairs.map((pair) => `${JSON.stringify(pair)}\n`).join(''));
  const artifact = await pushArtifact(client, `${model.entity}/${model.project}/sums`, file, { type: 'dataset' });

  const request = { model_id: model.id, training_data_url: artifact.uri, config: SUMS_CONFIG };
  const { id } = await client.trainDpo(request, { onEvent: sayStep });
  const after = await evaluate(openai, name, addition, heldOut);

  let metrics: Readonly<Record<string, number>> = {};
  for await (const step of client.listHistory(model.id)) metrics = step.metrics;
  say(
    `held-out pairs: ${percent(metrics['val/rewards/accuracies']!)} preferred, loss ${metrics['val/loss']!.toFixed(3)}`,
  );
  say(
    `${HELD_OUT} held-out sums × ${addition.rolloutsPerPrompt} answers: ${percent(before)} → ${percent(after)} right`,
  );
  const looked = [{ name: 'dpo', modelId: model.id, jobId: id }];
  if (KEEP) await showUntilInterrupted(server, looked, say);
  else addressLines(server, looked).forEach(say);
  return after - before >= GAIN_MIN;
}

await rm(DATA_DIRECTORY, { recursive: true, force: true });
await mkdir(DATA_DIRECTORY, { recursive: true });
const startedMs = performance.now();
const server = await startServer(DATA_DIRECTORY);
let learned = false;
try {
  learned = await run(server);
} finally {
  await server.stop();
}
say(`\n${learned ? 'Done' : 'Failed'} after ${((performance.now() - startedMs) / 1000).toFixed(0)} s.`);
process.exitCode = learned ? 0 : 1;
