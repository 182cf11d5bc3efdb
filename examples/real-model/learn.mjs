// Reinforcement learning on the tasks of a file: node learn.mjs TASKS MODEL [STEPS] [RATE]. Each step asks the newest checkpoint, rewards
// its answers, and sends them back as a job. Draws the mean reward of each step.
import { readFile } from 'node:fs/promises';
import { createClient, gather } from 'whetstone/client';
import reward from './one-word.mjs';

const [file, model, steps = '12', rate = '3e-4'] = process.argv.slice(2);
const TASKS_PER_STEP = 8;
const ANSWERS = 8;
const MAX_TOKENS = 8;

const client = createClient({ baseUrl: process.env.WHETSTONE_URL, apiKey: process.env.WHETSTONE_API_KEY });
const [project, name] = model.split('/');
const [base_model] = await client.listBaseModels();
const { id: model_id } = await client.registerModel({ project, name, base_model });
const tasks = (await readFile(file, 'utf8')).split('\n').filter(Boolean).map(JSON.parse);

for (let step = 0; step < Number(steps); step++) {
  const began = performance.now();
  const some = Array.from({ length: TASKS_PER_STEP }, (_, i) => tasks[(step * TASKS_PER_STEP + i) % tasks.length]);
  const { groups, reward: mean } = await gather(some, async (task, { group }) => {
    const settings = {
      n: ANSWERS,
      max_tokens: MAX_TOKENS,
      temperature: 1,
      seed: (step * TASKS_PER_STEP + group) * ANSWERS,
    };
    const messages = task.messages.slice(0, -1); // without the right answer
    const { choices } = await client.chat({ model, messages, return_token_ids: true, ...settings });
    return choices.map((choice) => ({
      messages_and_choices: [...messages, choice],
      reward: reward(choice.message.content, task),
    }));
  });
  const sampled = performance.now();
  await client.train({ model_id, trajectory_groups: groups, experimental_config: { learning_rate: Number(rate) } });
  const bar = '█'.repeat(Math.round(40 * mean)).padEnd(40, '·');
  const seconds = (from, to) => `${((to - from) / 1000).toFixed(1)} s`;
  const cost = `${seconds(began, sampled)} of sampling, ${seconds(sampled, performance.now())} of training`;
  console.log(`step ${String(step + 1).padStart(2)}  ${bar} ${mean.toFixed(2)}   ${cost}`);
}
