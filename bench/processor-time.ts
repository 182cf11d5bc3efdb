// `npm run bench -- processor-time`: processor time of a prompt and of decode steps in 8 bits, ours and llama.cpp's, with one thread each. For
// machines that are not idle: threads that wait for each other spin, so the clock would measure other processes.
import { rm } from 'node:fs/promises';
import { openLlamaCpp } from './llama-cpp.ts';
import { median, say } from './measurement.ts';
import { makeModelDirectory } from './model-directory.ts';
import type { Sampler } from './sampling.ts';
import { SHAPES } from './shapes.ts';
import { openWhetstone } from './whetstone-sampler.ts';

const config = SHAPES['135m']!;
const ROUNDS = 3;
const PROMPT_TOKENS = 512;
const DECODE_PROMPT_TOKENS = 64;
/** Long enough that the time of a step is not lost in that of the prompts. */
const DECODES = [
  { batch: 1, steps: 48 },
  { batch: 8, steps: 32 },
  { batch: 32, steps: 24 },
];

const prompts = (count: number, length: number): number[][] =>
  Array.from({ length: count }, (_, k) =>
    Array.from({ length }, (_, i) => ((i * 7919 + k * 104_729) % (config.vocab - 1)) + 1),
  );

async function processorMs(run: () => Promise<unknown>): Promise<number> {
  const since = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

/** The prompts are computed when the first token arrives; the rest are steps. */
async function stepMs(sampler: Sampler, batch: number, steps: number): Promise<number> {
  const given = prompts(batch, DECODE_PROMPT_TOKENS);
  const first = await processorMs(() => sampler.generate(given, 1));
  return ((await processorMs(() => sampler.generate(given, 1 + steps))) - first) / steps;
}

const MEASURED = [
  {
    what: `prompt of ${PROMPT_TOKENS}`,
    measure: (sampler: Sampler) => processorMs(() => sampler.generate(prompts(1, PROMPT_TOKENS), 1)),
  },
  ...DECODES.map(({ batch, steps }) => ({
    what: `step at batch ${batch}`,
    measure: (sampler: Sampler) => stepMs(sampler, batch, steps),
  })),
];

const modelDirectory = await makeModelDirectory(config);
try {
  const peer = await openLlamaCpp(config, 'Q8_0', 1);
  if (!peer) throw new Error('llama.cpp is not installed: npm install --prefix bench/peers --ignore-scripts');
  const samplers = [
    peer,
    await openWhetstone(modelDirectory, 'int8', 1),
    await openWhetstone(modelDirectory, 'w8a8', 1),
  ];
  for (const { what, measure } of MEASURED) {
    const samples = samplers.map((): number[] => []);
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [i, sampler] of samplers.entries()) {
        const ms = await measure(sampler);
        if (round > 0) samples[i]!.push(ms); // the first round warms up
      }
    }
    say(`${what}: ${samplers.map(({ name }, i) => `${name} ${median(samples[i]!).toFixed(1)} ms`).join(', ')}`);
  }
  for (const sampler of samplers) await sampler.close();
} finally {
  await rm(modelDirectory, { recursive: true, force: true });
}
