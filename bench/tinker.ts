// `npm run bench -- tinker --minutes 5`: 8 training and 32 sampling clients of the Tinker protocol on a real server on the starter model,
// whose processes are killed meanwhile by a seeded plan; then what the protocol adds to a forward_backward of 64 data of 512 tokens: the
// processor time of the server compared with that of its trainer, which only computes. Two of the training clients are the SDK itself if
// WHETSTONE_TINKER_PYTHON names its interpreter (scripts/python-env.sh tinker).
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openTinkerClient, type WeightedDatum } from '../test/support/clients/tinker-client.ts';
import { createServerProcess } from '../test/support/crash/server-process.ts';
import { cpuName } from './bench-server.ts';
import { runTinkerLoad, type TinkerLoadPlan } from './tinker-load.ts';
import { openSdkTrainer } from './tinker-sdk.ts';

const [DATA, TOKENS, ROUNDS] = [64, 512, 3];
const OVERHEAD_MAX = 0.05;
const GROWTH_MAX = 0.1;
const [TRAINERS, OF_THE_SDK] = [8, 2];

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '5' }, seed: { type: 'string', default: '1' } },
});
const python = process.env['WHETSTONE_TINKER_PYTHON'];
const sdkTrainers = python ? OF_THE_SDK : 0;
const plan: TinkerLoadPlan = {
  until: { seconds: 60 * Number(values.minutes) },
  trainers: TRAINERS - sdkTrainers,
  samplers: 32,
  kills: 12,
  seed: Number(values.seed),
  killsUntil: 0.6,
};
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const data = await mkdtemp(join(tmpdir(), 'whetstone-bench-tinker-'));
const server = await createServerProcess(data);
await server.start();
const sdk = Array.from({ length: sdkTrainers }, () => () => openSdkTrainer(python!, server));
const load = await runTinkerLoad(server, plan, sdk);
const { kills, slowestSeconds: slowest, memory } = load;
say(`${load.steps} steps by 8 clients, ${sdkTrainers} of them the SDK, and ${load.samples} samples by 32`);
say(`kills: ${kills.training} of the trainer, ${kills.inference} of the sampler, ${kills.server} of the server`);
say(
  `different from a run without kills: ${load.lossesApart} losses, ${load.adaptersApart} adapters; different answers to one prompt: ${load.samplesApart} samples`,
);
say(`slowest answers: ${slowest.training} s for a step, ${slowest.sampling} s for a sample`);
say(
  `anonymous memory ${JSON.stringify(memory.megabytes.at(-1))} MB, growth after the kills ${(100 * memory.growth).toFixed(1)} %`,
);

const overhead = await measureOverhead();
say(
  `forward_backward of ${DATA} × ${TOKENS} tokens: server ${overhead.serverMs} ms, trainer ${overhead.trainerMs} ms of processor time, ${(100 * overhead.share).toFixed(1)} %`,
);
await server.stop();
await rm(data, { recursive: true, force: true });
const machine = { cpu: cpuName(), cores: availableParallelism(), node: process.version };
await writeFile('bench/results/tinker.json', `${JSON.stringify({ ...machine, plan, load, overhead }, null, 2)}\n`);
const apart = load.lossesApart + load.adaptersApart + load.samplesApart;
if (apart > 0 || load.memory.growth > GROWTH_MAX || overhead.share > OVERHEAD_MAX) {
  say('a limit was exceeded: no differences, memory growth under 10 %, protocol overhead under 5 % of the computing');
  process.exitCode = 1;
}

/** Measures processor time, because the machine may be busy. */
async function measureOverhead() {
  const client = await openTinkerClient(server.url, server.apiKey);
  const run = await client.train(32, 1);
  const batch = Array.from({ length: DATA }, (_, k) => datumOf(k));
  await run.forwardBackward(batch); // opens the session
  const before = processorMs();
  for (let i = 0; i < ROUNDS; i++) await run.forwardBackward(batch);
  const after = processorMs();
  const spent = (name: string) => Math.round((after.get(name)! - before.get(name)!) / ROUNDS);
  const [serverMs, trainerMs] = [spent('server'), spent('training')];
  return { serverMs, trainerMs, share: serverMs / trainerMs };
}

/** No two begin alike, so that every token is computed. */
function datumOf(k: number): WeightedDatum {
  const tokens = Array.from({ length: TOKENS }, (_, i) => ((i * 7919 + k * 104_729) % 1_600) + 1);
  return { tokens, targets: tokens.map((token) => 1 + (token % 1_600)), weights: tokens.map(() => 1 / TOKENS) };
}

/** By process: the server, and its children by their last argument. */
function processorMs(): Map<string, number> {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  const found = new Map<string, number>();
  for (const line of table.split('\n')) {
    const [pid, parent, ...args] = line.trim().split(/\s+/);
    const name = Number(pid) === server.pid() ? 'server' : Number(parent) === server.pid() ? args.at(-1)! : null;
    if (name !== null) found.set(name, processorMsOf(pid!));
  }
  return found;
}

/** Linux counts it in hundredths of a second: fields 14 and 15 of stat, after a name that may hold spaces. */
function processorMsOf(pid: string): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return 10 * (Number(user) + Number(system));
}
