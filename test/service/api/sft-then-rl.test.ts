// The starter model learns an answer format from examples, then to follow it by rewards, over HTTP and from an artifact, as
// a user would teach it. In CI, guides.test.ts has the same by docs/guides/sft-then-rl.md. The name and city pairs of the test do not occur in training.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { pushArtifact } from '#client/artifact-files';
import { CITIES, NAMES } from '../../../scripts/starter/world/words.ts';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';
import { skipUnlessLong } from '../../support/skipping.ts';

const DEADLINE_MS = 120_000;
const LONG = { timeout: 300_000, ...skipUnlessLong() };
const MODEL = 'wandb-artifact:///default/formats/person';

let data: string;
let server: ServerProcess;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'whetstone-sft-'));
  server = await createServerProcess(data);
  await server.start();
});
afterAll(async () => {
  await server.stop();
  await rm(data, { recursive: true, force: true });
});

type Pair = readonly [name: string, city: string];
const random = createRandom(3);
const draw = (): Pair => [NAMES[random.integer(NAMES.length)]!, CITIES[random.integer(CITIES.length)]!];
const heldOut = Array.from({ length: 48 }, draw);
function drawOther(): Pair {
  const pair = draw();
  return heldOut.some((other) => other.join() === pair.join()) ? drawOther() : pair;
}

const question = ([name, city]: Pair) => ({
  role: 'user',
  content: `JSON with name and city for ${name} from ${city}.`,
});
/** The base model would call it "city". */
const answer = ([name, city]: Pair) => `{"name": "${name}", "home": "${city}"}`;

async function rollouts(pair: Pair, n: number, seed: number) {
  const sampling = { n, seed, temperature: 1, max_tokens: 32 };
  const { choices } = await server.client.chat({ model: MODEL, messages: [question(pair)], ...sampling });
  const isRight = (choice: (typeof choices)[number]) => choice.message.content === answer(pair);
  return choices.map((choice) => ({
    messages_and_choices: [question(pair), choice],
    reward: isRight(choice) ? 1 : 0,
  }));
}

async function exactMatch(): Promise<number> {
  const all = (await Promise.all(heldOut.map((pair, i) => rollouts(pair, 4, 1000 + i)))).flat();
  return all.reduce((sum, { reward }) => sum + reward, 0) / all.length;
}

test(
  'SFT from an artifact, then RL, teach a new format: exact answers from under 10 % to over 90 %',
  LONG,
  async () => {
    const { client } = server;
    const model = await client.registerModel({ project: 'formats', name: 'person', base_model: 'whetstone/starter' });
    expect(await exactMatch()).toBeLessThan(0.1);

    const lines = Array.from({ length: 320 }, () => {
      const pair = drawOther();
      return JSON.stringify({ messages: [question(pair), { role: 'assistant', content: answer(pair) }] });
    });
    await writeFile(join(data, 'train.jsonl'), lines.join('\n'));
    const { uri } = await pushArtifact(client, 'default/formats/examples', join(data, 'train.jsonl'));
    const schedule = { learning_rate: 1.2e-3, lr_scheduler_type: 'linear', warmup_ratio: 0.1 } as const;
    const config = { batch_size: 8, ...schedule };
    const sft = await client.submitSftJob({ model_id: model.id, training_data_url: uri, config });
    expect(await client.follow(sft.id, { deadlineMs: DEADLINE_MS })).toMatchObject({ type: 'sft', step: 1 });
    const taught = await exactMatch();
    expect(taught).toBeGreaterThan(0.5);

    for (let step = 0; step < 5; step++) {
      const trajectory_groups = await Promise.all(
        Array.from({ length: 24 }, async (_, g) => ({ trajectories: await rollouts(drawOther(), 12, step * 100 + g) })),
      );
      const experimental_config = { learning_rate: 4e-4, packed_sequence_length: 512 };
      const job = await client.submitTrainingJob({ model_id: model.id, trajectory_groups, experimental_config });
      await client.follow(job.id, { deadlineMs: DEADLINE_MS });
    }
    const trained = await exactMatch();
    expect(trained).toBeGreaterThan(0.9);
    expect(trained).toBeGreaterThan(taught);
  },
);
