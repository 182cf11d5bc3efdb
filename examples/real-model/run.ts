// `npm run example:real-model`: the README's quickstart with a real model, command by command, on a server of its own. With --short it
// trains fewer steps. Exits with 1 if a command fails, examples or rewards do not raise the success rate as the README promises, or
// llama.cpp (where node-llama-cpp is installed) answers otherwise. Knows of the tasks only what the commands print.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '#client/client';
import { KEEP, showUntilInterrupted } from '../shared/looking.ts';
import { startServer, type RunningServer } from '../shared/server.ts';

const SHORT = process.argv.includes('--short');
const STEPS = SHORT ? 4 : 12;
const GAIN_MIN = SHORT ? 0.05 : 0.4;
const EXAMPLES_RATE_MIN = 0.95;

const DIRECTORY = resolve('.whetstone/real-model');
const DATA = `${DIRECTORY}/data`;
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const CLI = here('../../dist/cli.js');
const REWARD = here('one-word.mjs');
const HAS_LLAMA_CPP = existsSync(here('../../bench/peers/node_modules/node-llama-cpp'));
const COMMAND_DEADLINE_MS = 1_800_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const began = performance.now();

/** Runs a command in the example's directory, prints it with its output and its seconds, and returns the output. */
async function run(shown: string, file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  say(`\n$ ${shown}`);
  const startMs = performance.now();
  const child = spawn(file, args, {
    cwd: DIRECTORY,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: COMMAND_DEADLINE_MS,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    process.stdout.write(text);
  });
  const code = await new Promise<number | null>((done, fail) => child.once('close', done).once('error', fail));
  if (code !== 0) throw new Error(`\`${shown}\` ended with exit code ${code}.`);
  say(`(${((performance.now() - startMs) / 1000).toFixed(0)} s)`);
  return output;
}

/** In percent, as probe prints it. */
const successIn = (output: string): number => Number(/^success +([\d.]+) %/m.exec(output)?.[1]);

/** Each command that the README shows, in its order. Returns what is not as promised. */
async function quickstart(server: RunningServer): Promise<string[]> {
  const env = { WHETSTONE_URL: server.url, WHETSTONE_API_KEY: server.apiKey, WHETSTONE_DATA: DATA };
  const whetstone = (...words: readonly string[]) =>
    run(`npx whetstone ${words.join(' ').replaceAll(REWARD, 'one-word.mjs')}`, process.execPath, [CLI, ...words], env);
  const node = (name: string, ...words: readonly string[]) =>
    run(`node ${name} ${words.join(' ')}`, process.execPath, [here(name), ...words], env);
  const probe = async (tasks: string, ...flags: readonly string[]) =>
    successIn(await whetstone('probe', tasks, '--reward', REWARD, '--max-tokens', '8', '--limit', '16', ...flags));

  await node('tasks.mjs');
  await probe('reviews-held-out.jsonl');
  await whetstone('models', 'create', 'real/reviews');
  await whetstone('train', 'reviews.jsonl', '--model', 'real/reviews', '--batch-size', '4');
  const reviews = await probe('reviews-held-out.jsonl', '--model', 'real/reviews');

  const before = await probe('topics-held-out.jsonl');
  await node('learn.mjs', 'topics.jsonl', 'real/topics', String(STEPS));
  const after = await probe('topics-held-out.jsonl', '--model', 'real/topics');

  const gguf = ['--merged', '--format', 'gguf', '--out', 'topics.gguf'];
  await whetstone('checkpoints', 'export', 'real/topics', ...gguf);
  if (HAS_LLAMA_CPP) await node('llama.mjs', 'topics.gguf', 'topics-held-out.jsonl', 'real/topics');
  else say('\nllama.cpp is left out: npm install --prefix bench/peers --ignore-scripts');

  say(`\nreviews, from 100 examples: ${reviews} % of held-out answers are right`);
  say(`topics, by rewards in ${STEPS} steps: ${before} % → ${after} % of held-out answers are right`);
  return [
    ...(reviews < 100 * EXAMPLES_RATE_MIN ? [`examples: at least ${100 * EXAMPLES_RATE_MIN} % were expected`] : []),
    ...(after - before < 100 * GAIN_MIN ? [`rewards: at least ${100 * GAIN_MIN} points more were expected`] : []),
  ];
}

await rm(DIRECTORY, { recursive: true, force: true });
await mkdir(DIRECTORY, { recursive: true });
const fetched = await run('bash examples/real-model/fetch.sh', 'bash', [
  here('fetch.sh'),
  resolve('.whetstone/models'),
]);
const model = fetched.trim();
const server = await startServer(DATA, ['--model', model]);
say(`\nwhetstone is ready at ${server.url}`);
try {
  const missed = await quickstart(server);
  for (const each of missed) say(`not as promised: ${each}`);
  process.exitCode = missed.length === 0 ? 0 : 1;
  if (KEEP) {
    const client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
    for await (const model of client.listModels({ project: 'real', name: 'topics' }))
      for await (const job of client.listTrainingJobs({ order: 'desc', model_id: model.id })) {
        await showUntilInterrupted(server, [{ name: 'topics', modelId: model.id, jobId: job.id }], say);
        break;
      }
  }
} finally {
  await server.stop();
}
say(
  `\n${process.exitCode === 0 ? 'Done' : 'Failed'} after ${((performance.now() - began) / 60_000).toFixed(1)} minutes.`,
);
