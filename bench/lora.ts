// `npm run bench -- lora`: how an adapter's options affect learning. The task of the demo on the starter model, with the same prompts, seeds
// and learning rate, for a few ranks, targets and scales; prints the reward per step as table rows.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { createClient, type LoraOptions } from '#client/client';
import { evaluate, reinforce } from '../examples/demo/rl-loop.ts';
import { inferenceName } from '../examples/shared/inference-name.ts';
import { yesNoMaybe } from '../examples/demo/tasks.ts';
import { startServer } from '../examples/shared/server.ts';

const BASE_MODEL = 'whetstone/starter';
const STEPS_SHOWN = [1, 2, 4, 6, 8, 10];

const ADAPTERS: Readonly<Record<string, LoraOptions>> = {
  'r 1': { r: 1 },
  'r 4': { r: 4 },
  'r 8, the default': {},
  'r 16': { r: 16 },
  'r 64': { r: 64 },
  'r 64, `use_rslora`': { r: 64, use_rslora: true },
  'r 8, attention alone': { target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj'] },
  'r 8, MLP alone': { target_modules: ['gate_proj', 'up_proj', 'down_proj'] },
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const data = await mkdtemp(join(tmpdir(), 'whetstone-bench-lora-'));
const server = await startServer(data);
try {
  const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey });
  const client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
  say(`| adapter | ${STEPS_SHOWN.map((step) => `step ${step}`).join(' | ')} | after |`);
  say(`| --- |${' --- |'.repeat(STEPS_SHOWN.length + 1)}`);
  for (const [index, [name, lora]] of Object.entries(ADAPTERS).entries()) {
    const model = await client.registerModel({ project: 'lora', name: `m${index}`, base_model: BASE_MODEL, lora });
    const rewards: number[] = [];
    for await (const { reward } of reinforce(openai, client, model, yesNoMaybe)) rewards.push(reward);
    const after = await evaluate(openai, inferenceName(model), yesNoMaybe, yesNoMaybe.prompts(0));
    const shown = [...STEPS_SHOWN.map((step) => rewards[step - 1]!), after];
    say(`| ${name} | ${shown.map((reward) => reward.toFixed(2)).join(' | ')} |`);
  }
} finally {
  await server.stop();
  await rm(data, { recursive: true, force: true });
}
