// `npm run curves -- [--out <directory>] [picture …]`: draws the pictures of the training guide, or only those named. Runs real jobs on the
// starter model through its own server and plots their events; prints the first and last figures of each line.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from '#base/random';
import { pushArtifact } from '#client/artifact-files';
import { createClient, type LoraOptions, type Model } from '#client/client';
import { inferenceName } from '../examples/shared/inference-name.ts';
import { addition, heldOutAdditions } from '../examples/demo/tasks.ts';
import { pairsOfSums, SUMS_CONFIG } from '../examples/dpo/pairs.ts';
import { carelessSum } from '../examples/early-stopping/careless-sums.ts';
import { startServer } from '../examples/shared/server.ts';
import { COLOURS, drawChart, type Line, type Panel } from './line-chart.ts';

type Step = Readonly<Record<string, number>>;
type Look = Omit<Line, 'name' | 'points'>;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string', default: 'docs/images' } },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const { blue, red, green, purple, grey } = COLOURS;
const x = 'gradient step';

const data = await mkdtemp(join(tmpdir(), 'whetstone-curves-'));
const server = await startServer(data);
const client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
const PICTURES = { 'curves-dpo': drawDpo, 'curves-lora': drawLora, 'curves-schedules': drawSchedules };
try {
  await mkdir(values.out, { recursive: true });
  for (const [name, draw] of Object.entries(PICTURES)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    await writeFile(join(values.out, `${name}.svg`), await draw(name));
  }
} finally {
  await server.stop();
  await rm(data, { recursive: true, force: true });
}

/** Reward, accuracy and loss of the trained and of the held-out pairs. */
async function drawDpo(picture: string): Promise<string> {
  const model = await register(picture, 'sums');
  const { pairs } = await pairsOfSums(client, inferenceName(model));
  const lines = pairs.map((pair) => JSON.stringify(pair));
  const config = { ...SUMS_CONFIG, eval_steps: 4 };
  const request = { model_id: model.id, training_data_url: await push(picture, lines), config };
  const steps = await stepsOf((await client.trainDpo(request)).id);
  const both = (metric: string): readonly Line[] => [
    line('trained', steps, metric, { colour: grey, width: 1.2 }),
    line('held out', steps, `val/${metric}`, { colour: blue, width: 2.5 }),
  ];
  return chart(`DPO on ${pairs.length} pairs: a right sum before a wrong one`, [
    { title: 'Reward margin', x, y: 'chosen − rejected, β × nats', lines: both('rewards/margins') },
    {
      title: 'Accuracy',
      x,
      y: 'share with a margin above 0',
      yRange: [0, 1],
      lines: both('rewards/accuracies'),
    },
    { title: 'Loss', x, y: 'nats per pair', yRange: [0, 0], lines: both('loss') },
  ]);
}

/** All rows in each batch, so that the loss of a step covers all the data. */
async function drawLora(picture: string): Promise<string> {
  const random = createRandom(5);
  const codes = Array.from({ length: 32 }, (_, i) =>
    JSON.stringify({
      messages: [
        { role: 'user', content: `What is the code of number ${i + 1}?` },
        { role: 'assistant', content: String(1000 + random.integer(9000)) },
      ],
    }),
  );
  const training_data_url = await push(picture, codes);
  const config = { learning_rate: 2e-3, batch_size: codes.length, epochs: 40 };
  const learn = async (name: string, lora: LoraOptions, look: Look): Promise<Line> => {
    const model = await register(picture, name, lora);
    const { id } = await client.train({ model_id: model.id, training_data_url, config });
    return line(name, await stepsOf(id), 'loss', look);
  };
  const attention = ['q_proj', 'k_proj', 'v_proj', 'o_proj'];
  const mlp = ['gate_proj', 'up_proj', 'down_proj'];
  const usual = await learn('r 8', {}, { colour: blue, width: 3 });
  const ranks = [
    await learn('r 1', { r: 1 }, { colour: '#c0c6cc', width: 7 }),
    usual,
    await learn('r 64', { r: 64 }, { colour: red, width: 1.2 }),
    await learn('r 8, rsLoRA', { r: 8, use_rslora: true }, { colour: blue, dash: '7 3' }),
    await learn('r 64, rsLoRA', { r: 64, use_rslora: true }, { colour: red, dash: '7 3' }),
  ];
  const withHead = [...attention, ...mlp, 'lm_head'];
  const targets = [
    { ...usual, name: 'all-linear', width: 2 },
    await learn('all and lm_head', { target_modules: withHead }, { colour: red, dash: '7 3' }),
    await learn('attention', { target_modules: attention }, { colour: green, dash: '2 3' }),
    await learn('MLP', { target_modules: mlp }, { colour: purple, dash: '9 3 2 3' }),
    await learn('lm_head', { target_modules: ['lm_head'] }, { colour: grey }),
  ];
  const y = 'nats per token';
  return chart('LoRA learns 32 random codes at one learning rate', [
    { title: 'Loss by rank, lora_alpha 16', x, y, yRange: [0, 0], lines: ranks },
    { title: 'Loss by target_modules, r 8', x, y, yRange: [0, 0], lines: targets },
  ]);
}

/** A learning rate that is too large to keep: the held-out loss shows the effect of each schedule. */
async function drawSchedules(picture: string): Promise<string> {
  const trained = Array.from({ length: 24 }, (_, batch) => addition.prompts(batch)).flat();
  const heldOut = heldOutAdditions(64);
  const rows = [...trained, ...heldOut];
  const training_data_url = await push(picture, rows.map(carelessSum));
  const common = { learning_rate: 6e-3, batch_size: 8, eval_steps: 4, validation_split: heldOut.length / rows.length };
  const warm = { warmup_ratio: 0.1 };
  const jobs: readonly (readonly [string, object, Look])[] = [
    ['constant', { lr_scheduler_type: 'constant' }, { colour: grey, width: 1.5 }],
    ['constant, warm-up', { lr_scheduler_type: 'constant', ...warm }, { colour: green, dash: '2 3' }],
    ['linear, warm-up', { lr_scheduler_type: 'linear', ...warm }, { colour: blue }],
    ['cosine, warm-up', { lr_scheduler_type: 'cosine', ...warm }, { colour: red, dash: '7 3' }],
  ];
  const [rates, losses]: [Line[], Line[]] = [[], []];
  for (const [name, schedule, look] of jobs) {
    const model = await register(picture, name);
    const request = { model_id: model.id, training_data_url, config: { ...common, ...schedule } };
    const steps = await stepsOf((await client.train(request)).id);
    rates.push(line(name, steps, 'learning_rate', look));
    losses.push(line(name, steps, 'val/loss', look));
  }
  return chart('Schedules: sums, a quarter of them answered wrong', [
    { title: 'Learning rate', x, y: 'peak 0.006, warm-up 10 % of the steps', yRange: [0, 0.007], lines: rates },
    { title: 'Loss of held-out sums', x, y: 'nats per token', lines: losses },
  ]);
}

function register(picture: string, name: string, lora: LoraOptions | null = null): Promise<Model> {
  const of = { project: picture, name: name.replace(/\W+/g, '-'), base_model: 'whetstone/starter' };
  return client.registerModel({ ...of, lora });
}

/** Returns the name by which a job refers to the rows. */
async function push(picture: string, rows: readonly string[]): Promise<string> {
  const file = join(data, 'train.jsonl');
  await writeFile(file, rows.map((row) => `${row}\n`).join(''));
  return (await pushArtifact(client, `default/${picture}/rows`, file, { type: 'dataset' })).uri;
}

/** As the job's events have them, oldest first. */
async function stepsOf(jobId: string): Promise<Step[]> {
  const steps: Step[] = [];
  for await (const { type, data } of client.listEvents(jobId)) if (type === 'gradient_step') steps.push(data);
  return steps;
}

/** Without the steps that lack the metric: not every step is evaluated. */
function line(name: string, steps: readonly Step[], metric: string, look: Look): Line {
  const points = steps.flatMap((step) => {
    const value = step[metric];
    return value === undefined ? [] : [[step['gradient_step']!, value] as const];
  });
  return { name, points, ...look };
}

function chart(title: string, panels: readonly Panel[]): string {
  say(title);
  for (const panel of panels)
    for (const { name, points } of panel.lines) {
      const [first, last] = [points[0]!, points.at(-1)!];
      const figures = `${first[1].toFixed(4)} at ${first[0]}, ${last[1].toFixed(4)} at ${last[0]}`;
      say(`  ${panel.title.padEnd(28)} ${name.padEnd(18)} ${figures}`);
    }
  return drawChart(title, panels);
}
