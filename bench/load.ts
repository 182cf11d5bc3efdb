// `npm run bench -- load --minutes 5`: a real server on the starter model under 512 chat streams at once, with 50 training jobs submitted
// meanwhile. There must be no 5xx and no broken stream, and memory must be flat after the first minute.
//
// The API's own time is that of requests that need no model (load-probe.ts), sent by a third process: without load that is what the service
// adds to a request; under load it is mostly waiting for one of the machine's cores, which server, sampler, trainer and this load
// generator share.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuName, startBenchServer } from './bench-server.ts';
import { runLoad } from './load-run.ts';
import type { Quantiles } from './quantiles.ts';

/** Computed prompts may take a gigabyte, which would hide unbounded growth: this cache is full within the first minute. */
const PREFIX_CACHE_MB = 32;
const GROWTH_MAX = 0.1;
const IDLE_P99_MS_MAX = 20;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    streams: { type: 'string', default: '512' },
    jobs: { type: 'string', default: '50' },
  },
});
const seconds = 60 * Number(values.minutes);
const plan = {
  seconds,
  warmUpSeconds: Math.min(60, seconds / 2),
  streams: Number(values.streams),
  jobs: Number(values.jobs),
  jobsBefore: 64,
  idleSeconds: 10,
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const data = await mkdtemp(join(tmpdir(), 'whetstone-bench-load-'));
const server = await startBenchServer(data, { WHETSTONE_PREFIX_CACHE_MB: String(PREFIX_CACHE_MB) });
const result = await runLoad(server, plan);
await server.stop();
await rm(data, { recursive: true, force: true });

const { requests, tokensPerSecond, statuses, broken, chatMs, jobs, memory, apiMs } = result;
const show = ({ p50, p99 }: Quantiles): string => `${p50} / ${p99} ms`;
say(`${requests} chats, ${tokensPerSecond} tokens/s, statuses ${JSON.stringify(statuses)}, ${broken} broken`);
say(`a chat of 32 tokens, one of ${plan.streams} streams: p50 / p99 ${show(chatMs)}`);
say(`${jobs.succeeded} of ${plan.jobs} jobs succeeded, the last after ${jobs.lastEndedSeconds} s`);
say(`memory ${JSON.stringify(memory.megabytes.at(-1))} MB, growth ${(100 * memory.growth).toFixed(1)} %`);
for (const [name, at] of Object.entries(apiMs)) {
  say(
    `the API without the model, ${name}, p50 / p99: health ${show(at.health)}, models ${show(at.models)}, a refused chat ${show(at.refusedChat)}`,
  );
}
const machine = { cpu: cpuName(), cores: availableParallelism(), node: process.version };
await writeFile('bench/results/load.json', `${JSON.stringify({ ...machine, plan, ...result }, null, 2)}\n`);

const failed = Object.keys(statuses).some((status) => Number(status) >= 500) || broken > 0;
const tooSlow = [apiMs.idle.health, apiMs.idle.models, apiMs.idle.refusedChat].some(({ p99 }) => p99 > IDLE_P99_MS_MAX);
if (failed || tooSlow || memory.growth > GROWTH_MAX || jobs.succeeded < plan.jobs) {
  say('a limit was exceeded: no 5xx, no broken stream, all jobs, growth under 10 %, p99 without load under 20 ms');
  process.exitCode = 1;
}
