// `npm run example:early-stopping`: a few sums, a quarter of them with wrong answers, trained again and again. Once the model memorizes the
// wrong answers, the held-out loss rises; a job with patience then stops and keeps its best weights. Exits with 1 if the job did not stop
// early, or its checkpoint is not the best it measured.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pushArtifact } from '#client/artifact-files';
import { createClient, type TrainingEvent } from '#client/client';
import { addition, heldOutAdditions } from '../demo/tasks.ts';
import { bar } from '../shared/chart.ts';
import { startServer, type RunningServer } from '../shared/server.ts';
import { carelessSum } from './careless-sums.ts';

const DATA_DIRECTORY = resolve('.whetstone/early-stopping');
const TRAINED = 32;
const HELD_OUT = 32;
const EVAL_STEPS = 2;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function run(server: RunningServer): Promise<boolean> {
  const client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
  const model = await client.registerModel({ project: 'examples', name: 'sums', base_model: 'whetstone/starter' });
  const questions = [
    ...[0, 1].flatMap((batch) => addition.prompts(batch)).slice(0, TRAINED),
    ...heldOutAdditions(HELD_OUT),
  ];
  const file = join(DATA_DIRECTORY, 'train.jsonl');
  await writeFile(file, questions.map((question, i) => `${carelessSum(question, i)}\n`).join(''));
  const artifact = await pushArtifact(client, `${model.entity}/${model.project}/sums-data`, file, { type: 'dataset' });

  const losses: number[] = [];
  let last: Readonly<Record<string, unknown>> = {};
  const onEvent = ({ type, data }: TrainingEvent): void => {
    if (type === 'training_ended') last = data;
    if (type !== 'gradient_step' || data['val/loss'] === undefined) return;
    const [heldOut, trained] = [data['val/loss'], data['loss']!];
    losses.push(heldOut);
    say(
      `  ${String(data['gradient_step']).padStart(3)}  ${bar(heldOut)} held out ${heldOut.toFixed(3)}, trained ${trained.toFixed(3)}`,
    );
  };
  const config = {
    learning_rate: 2e-3,
    batch_size: 8,
    epochs: 20,
    validation_split: HELD_OUT / questions.length,
    eval_steps: EVAL_STEPS,
    early_stopping_patience: 3,
  };
  await client.train({ model_id: model.id, training_data_url: artifact.uri, config }, { onEvent });
  say((last['stopped_early'] as string | undefined) ?? 'not stopped early');
  say(
    `the checkpoint has the weights of gradient step ${String(last['best_gradient_step'])}, val/loss ${(last['val/loss'] as number).toFixed(3)}`,
  );
  return last['stopped_early'] !== undefined && last['val/loss'] === Math.min(...losses);
}

await rm(DATA_DIRECTORY, { recursive: true, force: true });
await mkdir(DATA_DIRECTORY, { recursive: true });
const startedMs = performance.now();
const server = await startServer(DATA_DIRECTORY);
let isDone = false;
try {
  isDone = await run(server);
} finally {
  await server.stop();
}
say(`\n${isDone ? 'Done' : 'Failed'} after ${((performance.now() - startedMs) / 1000).toFixed(0)} s.`);
process.exitCode = isDone ? 0 : 1;
