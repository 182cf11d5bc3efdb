// `npm run bench -- rl-rates`: which learning rate RL jobs need, on the starter: small jobs on sums, from the base model or after
// examples, and then other sums. Prints the rows of the table in docs/guides/learning-rate.md. `--rates 1e-3,2e-3`, `--seeds 1,2`,
// `--from base,examples` and `--jobs 8` choose what is measured.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pushArtifact } from '#client/artifact-files';
import { createClient, gather } from '#client/client';
import { startBenchServer } from './bench-server.ts';
import { say } from './measurement.ts';

const { values: flags } = parseArgs({
  options: {
    rates: { type: 'string', default: '6e-5,5e-4,1e-3,1.6e-3,2e-3,5e-3' },
    seeds: { type: 'string', default: '1,2' },
    from: { type: 'string', default: 'base,examples' },
    jobs: { type: 'string', default: '8' },
  },
});
const BASE = 'whetstone/starter';
const SUMS_PER_JOB = 16;
const ANSWERS = 8;
const EXAMPLES = 120;
const OTHER_SUMS = { count: 64, answers: 4 };
/** Where in the endless list of sums the examples and the other sums begin. */
const [EXAMPLES_FROM, OTHERS_FROM] = [50_000, 90_000];

interface Sum {
  readonly question: string;
  readonly right: string;
}

function sumsFrom(seed: number, first: number, count: number): Sum[] {
  return Array.from({ length: count }, (_, i) => {
    const k = first + i + 1000 * seed;
    const [a, b] = [1 + ((k * 37) % 40), 1 + ((k * 23 + Math.floor(k / 40)) % 40)];
    return { question: `What is ${a} + ${b}?`, right: String(a + b) };
  });
}

const data = await mkdtemp(join(tmpdir(), 'whetstone-rates-'));
const server = await startBenchServer(data);
const client = createClient({ baseUrl: server.url, apiKey: server.key });

/** The checkpoint that has seen examples. */
async function teach(seed: number): Promise<string> {
  const { id, entity } = await client.registerModel({
    ...{ project: 'rates', name: `examples-${seed}`, base_model: BASE, lora: { seed } },
  });
  const rows = sumsFrom(seed, EXAMPLES_FROM, EXAMPLES).map(({ question, right }) => ({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: right },
    ],
  }));
  const file = join(data, 'rows.jsonl');
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const { uri } = await pushArtifact(client, `${entity}/rates/rows-${seed}`, file, { type: 'dataset' });
  await client.train({ model_id: id, training_data_url: uri, config: { batch_size: 16 } });
  return `${entity}/rates/examples-${seed}@1`;
}

const play = (model: string, sums: readonly Sum[], answers: number, seed: number) =>
  gather(sums, async ({ question, right }, { group }) => {
    const asked = { role: 'user' as const, content: question };
    const settings = { n: answers, temperature: 1, max_tokens: 6, seed: seed + 16 * group };
    const { choices } = await client.chat({ model, messages: [asked], ...settings });
    return choices.map((choice) => ({
      messages_and_choices: [asked, choice],
      reward: choice.message.content?.trim() === right ? 1 : 0,
    }));
  });

async function measure(from: string, checkpoint: string | null, seed: number, rate: string): Promise<void> {
  const name = `${from}-${seed}-${rate}`;
  const start = checkpoint === null ? { lora: { seed } } : { from_checkpoint: checkpoint };
  const { id } = await client.registerModel({ project: 'rates', name, base_model: BASE, ...start });
  const rewards: string[] = [];
  for (let job = 0; job < Number(flags.jobs); job++) {
    const sums = sumsFrom(seed, SUMS_PER_JOB * job, SUMS_PER_JOB);
    const { groups, reward } = await play(`rates/${name}`, sums, ANSWERS, 100_000 * seed + 1000 * job);
    rewards.push(reward.toFixed(2));
    await client.train({
      model_id: id,
      trajectory_groups: groups,
      experimental_config: { learning_rate: Number(rate) },
    });
  }
  const others = sumsFrom(seed, OTHERS_FROM, OTHER_SUMS.count);
  const { reward } = await play(`rates/${name}`, others, OTHER_SUMS.answers, 100_000 * seed + 999_000);
  say(`| ${from}, seed ${seed} | ${rate} | ${rewards.join(' | ')} | ${reward.toFixed(2)} |`);
}

try {
  for (const seed of flags.seeds.split(',').map(Number))
    for (const from of flags.from.split(',')) {
      const checkpoint = from === 'examples' ? await teach(seed) : null;
      for (const rate of flags.rates.split(',')) await measure(from, checkpoint, seed, rate);
    }
} finally {
  await server.stop();
  await rm(data, { recursive: true, force: true });
}
