// `npm run bench -- NAME [flags]` runs one benchmark; without a name it lists them. Each file says in its first lines what it
// measures, against which peer, and where its results go. Those that start processes do so from dist, which is built first.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const BENCHES: Readonly<Record<string, readonly [question: string, file?: string]>> = {
  engine: ['speed of prompts, tokens, adapters, contexts and training steps, against llama.cpp and PyTorch + PEFT'],
  'processor-time': ['processor time of prompts and decode steps in 8 bits, against llama.cpp, on busy machines'],
  steps: ['processor time of single calls of the model by their parts, against another checkout'],
  'kv-cache': ['what a 16-bit cache costs in accuracy and saves in memory'],
  precision: ['perplexity and divergence of each precision'],
  'trainer-precision': ['distance of each precision of the trainer from each of the sampler'],
  memory: ['peak memory of a training step by row length', 'training-memory.ts'],
  'model-memory': ['memory of a model when idle, sampling and training, against its plan'],
  families: ['memory, tokens per second and seconds per job of each model family at its real size'],
  'time-to-reward': ['cost and reward of learning steps on a real model, against TRL'],
  'rl-rates': ['how the learning rate of RL jobs affects learning'],
  lora: ['how an adapter’s options affect learning'],
  constraints: ['compiling schemas and computing masks, against llguidance and xgrammar'],
  service: ['what the HTTP service costs in addition to the model'],
  load: ['512 chat streams at once, with 50 training jobs submitted meanwhile'],
  hostile: ['each attack beside 64 honest streams', 'hostile/main.ts'],
  episodes: ['what recording the calls of agents costs, and lists of 100,000 calls'],
  jobs: ['what a training job costs in addition to the training'],
  artifacts: ['a file of 1 GB, and the time from 10,000 rows to the first event'],
  workers: ['the cost of an engine in another process or machine'],
  wire: ['processor time of carrying tokens and gradient steps', 'wire/main.ts'],
  tinker: ['40 Tinker clients while processes are killed, and what the protocol adds to a step'],
  'first-minutes': ['from a clone to the first curve, and to a server in a project of one’s own'],
  overview: ['the dashboard’s first page with 1,000 models and 100,000 jobs'],
  pages: ['time until pages show their content, with 1,000 models, 10,000 jobs and 1,009 steps'],
  dashboard: ['processor time and memory of full pages in the browser'],
};

const [name = '', ...flags] = process.argv.slice(2);
const bench = BENCHES[name];
if (!bench) {
  const width = Math.max(...Object.keys(BENCHES).map(({ length }) => length));
  const lines = Object.entries(BENCHES).map(([each, [question]]) => `  ${each.padEnd(width)}  ${question}`);
  console.error(`usage: npm run bench -- NAME [flags]\n\n${lines.join('\n')}`);
  if (name !== '') console.error(`\nThere is no benchmark ${name}.`);
  process.exit(name === '' ? 0 : 2);
}

const run = (...args: readonly string[]): void => {
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
run(at('../scripts/build.ts'));
run('-C', 'source', at(bench[1] ?? `${name}.ts`), ...flags);
