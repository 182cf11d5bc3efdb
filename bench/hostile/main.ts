// `npm run bench -- hostile`: a real server on the starter model, 64 honest chat streams, and beside them each attack in turn (the files
// beside this one), then many attacks together. No honest stream may fail, /v1/health must stay quick, memory must return, and an idle
// server must stop at once. What one attack does is shown on its line: the longest wait for health, and the longest turn of the server's
// main thread without its waits for a processor, which other work on the machine lengthens.
//   --seconds 3    of each attack          --together 60   seconds of attacks together, after each alone (0: none)
//   --only A,B     attacks by their names  --profiles DIR  a profile of the main thread during each attack
// Memory is measured once the attack is over and garbage is collected: live bytes may not grow. What the sampler keeps by design is filled
// to its bounds first: cache slots for as many sequences as it serves at once, and computed prompts. The last line is the verdict; exits
// with 1 if a bound is broken.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createRandom } from '#base/random';
import { cpuName, startBenchServer } from '../bench-server.ts';
import { collectLiveMemory } from '../live-memory.ts';
import { startProbe } from '../probing.ts';
import { residentBytesOf } from '../process-memory.ts';
import { quantiles } from '../quantiles.ts';
import { watchThread } from '../thread-watch.ts';
import { artifactAttacks } from './artifact-attacks.ts';
import { chatAttacks } from './chat-attacks.ts';
import { createHostileClient, oneOf, type Attack, type Endings } from './client.ts';
import { connectionAttacks } from './connection-attacks.ts';
import { fieldAttacks } from './field-attacks.ts';
import { fillCaches, PREFIX_CACHE_MB } from './fill-caches.ts';
import { startHonestClients } from './honest.ts';
import { protocolAttacks } from './protocol-attacks.ts';
import { readingAttacks } from './reading-attacks.ts';
import { schemaAttacks } from './schema-attacks.ts';
import { makeTarget } from './target.ts';
import { tinkerAttacks } from './tinker-attacks.ts';
import { trainingAttacks } from './training-attacks.ts';

const MODEL = 'whetstone/starter';
/** On an idle machine with two cores. */
const HEALTH_MS_MAX = 500;
/** Allowed growth of the live bytes of a process: a part, or this many if that is more. */
const LIVE_GROWTH_MAX = { part: 0.15, bytes: 10e6 };
/** Of all processes together, from the first attack to the last: allocators keep the memory of the largest bodies for a while. */
const RESIDENT_GROWTH_MAX = 0.5;
const STOP_SECONDS_MAX = 5;
/** Work that an attack leaves behind must end within this time. */
const CALM_MS_MAX = 60_000;
const WARM_UP_MS = 5_000;
const CLIENTS_TOGETHER = 32;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    together: { type: 'string', default: '60' },
    streams: { type: 'string', default: '64' },
    only: { type: 'string', default: '' },
    profiles: { type: 'string' },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
const megabytes = (bytes: number) => Math.round(bytes / 1e6);

const data = await mkdtemp(join(tmpdir(), 'whetstone-bench-hostile-'));
const env = { WHETSTONE_PREFIX_CACHE_MB: String(PREFIX_CACHE_MB), MALLOC_MMAP_THRESHOLD_: '262144' }; // as in the Dockerfile
const server = await startBenchServer(data, env, { inspected: true, flags: ['--trust-request-chat-template'] });
const target = await makeTarget(server, MODEL);
await fillCaches(server, MODEL);
const watch = await watchThread(server.inspectors[0]!);
const honest = startHonestClients(server, Number(values.streams));
if (values.profiles) await mkdir(values.profiles, { recursive: true });

const attacks = [
  ...connectionAttacks(),
  ...chatAttacks(MODEL),
  ...trainingAttacks(),
  ...artifactAttacks(),
  ...tinkerAttacks(),
  ...fieldAttacks(),
  ...schemaAttacks(),
  ...protocolAttacks(),
  ...readingAttacks(),
].filter(({ name }) => values.only.split(',').some((part) => name.includes(part)));

type Live = Readonly<Record<string, number>>;
const residentOf = () => residentBytesOf(server.pid);
const residentBytes = (of: Live) => sum(Object.values(of));
async function liveBytes(): Promise<Live> {
  const all = await collectLiveMemory(server.inspectors);
  return Object.fromEntries(all.map(({ process: name, ...bytes }) => [name, bytes.heapBytes + bytes.externalBytes]));
}
const grown = (before: Live, after: Live): string[] =>
  Object.keys(before).filter((name) => {
    const [was, is] = [before[name]!, after[name] ?? 0]; // a process that is gone holds nothing
    return is - was > Math.max(LIVE_GROWTH_MAX.part * was, LIVE_GROWTH_MAX.bytes);
  });
async function liveOnceCalm(before: Live): Promise<Live> {
  const startMs = performance.now();
  for (;;) {
    const after = await liveBytes();
    if (grown(before, after).length === 0 || performance.now() - startMs > CALM_MS_MAX) return after;
    await delay(1_000);
  }
}

interface Outcome {
  readonly name: string;
  /** Whether it did what it is meant to do. */
  readonly reached: boolean;
  readonly healthMs: number;
  readonly turnMs: number;
  readonly failed: number;
  readonly grew: readonly string[];
  readonly endings: Endings;
}

/** The attack's clients, until the time is over and each has ended its last attempt. */
async function attackWith(clients: readonly (() => Attack)[], forMs: number, endings: Endings): Promise<void> {
  const endMs = performance.now() + forMs;
  const goesOn = () => performance.now() < endMs;
  const client = createHostileClient(target, endings, goesOn);
  await Promise.all(
    clients.map(async (next, i) => {
      const random = createRandom(1_000 + i);
      while (goesOn()) await next().attempt(client, random);
    }),
  );
}

async function measure(
  { name, expected }: Pick<Attack, 'name' | 'expected'>,
  clients: readonly (() => Attack)[],
  forMs: number,
): Promise<Outcome> {
  const before = await liveBytes();
  const endings: Endings = new Map();
  honest.take();
  if (values.profiles) await watch.startProfile();
  await watch.longestTurn();
  const probe = startProbe(server, 20, ['health']);
  await attackWith(clients, forMs, endings);
  const turnMs = await watch.longestTurn();
  const health = await probe.stop().then(
    (probed) => probed.health,
    () => ({ max: Infinity }), // one was not answered with 200
  );
  if (values.profiles) await watch.saveProfile(join(values.profiles, `${name.replaceAll(/[^\w]+/g, '-')}.cpuprofile`));
  const { ms, failures } = honest.take();
  const failed = sum([...failures.values()]);
  const after = await liveOnceCalm(before);
  const grew = grown(before, after);
  const ended = [...endings].map(([end, count]) => `${end} ×${count}`).join(', ');
  say(
    `${name.padEnd(60)} health ${String(Math.round(health.max)).padStart(5)} ms, turn ${String(Math.round(turnMs)).padStart(4)} ms; ` +
      `honest ${ms.length}${failed > 0 ? `, FAILED ${failed} ${JSON.stringify([...failures])}` : ''}; ` +
      `server ${megabytes(before['server'] ?? 0)} to ${megabytes(after['server'] ?? 0)} MB` +
      `${grew.length > 0 ? `, GREW: ${grew.map((each) => `${each} ${megabytes(before[each]!)} to ${megabytes(after[each]!)} MB`).join(', ')}` : ''}; ${ended}`,
  );
  const reached = expected === undefined || endings.has(expected);
  return { name, reached, healthMs: health.max, turnMs, failed, grew, endings };
}

say(`${cpuName()}, ${availableParallelism()} cores; ${attacks.length} attacks`);
await delay(WARM_UP_MS);
const firstResident = residentOf();
const outcomes: Outcome[] = [];
for (const attack of attacks) {
  const clients = Array.from({ length: attack.clients ?? 1 }, () => () => attack);
  outcomes.push(await measure(attack, clients, 1_000 * Number(values.seconds)));
}
if (Number(values.together) > 0) {
  const random = createRandom(7);
  const clients = Array.from({ length: CLIENTS_TOGETHER }, () => () => oneOf(attacks, random));
  outcomes.push(await measure({ name: 'all together' }, clients, 1_000 * Number(values.together)));
}
await honest.stop();
watch.close();
await delay(CALM_MS_MAX);
const lastResident = residentOf();
const stopMs = performance.now();
await server.stop();
const stopSeconds = (performance.now() - stopMs) / 1_000;
await rm(data, { recursive: true, force: true });

const { p50, p99 } = quantiles(outcomes.map(({ healthMs }) => healthMs));
say(`longest wait for health by attack: median ${p50} ms, p99 ${p99} ms`);
const inWords = (of: Live): string => {
  const each = Object.entries(of).map(([name, bytes]) => `${name} ${megabytes(bytes)} MB`);
  return each.join(', ');
};
say(`resident: ${inWords(firstResident)} before the attacks, ${inWords(lastResident)} after`);
say(`SIGTERM when idle: ${stopSeconds.toFixed(1)} s`);

const named = (isOne: (outcome: Outcome) => boolean) => outcomes.filter(isOne).map(({ name }) => name);
const bounds: readonly [string, readonly string[]][] = [
  ['no honest stream fails', named(({ failed }) => failed > 0)],
  [`health waits less than ${HEALTH_MS_MAX} ms`, named(({ healthMs }) => healthMs >= HEALTH_MS_MAX)],
  ['live memory returns', named(({ grew }) => grew.length > 0)],
  ['each attack reaches what it is after', named(({ reached }) => !reached)],
  ['nobody gets a 500 or no answer', named(({ endings }) => endings.has('500') || endings.has('no answer'))],
  [
    'resident memory returns',
    residentBytes(lastResident) / residentBytes(firstResident) - 1 < RESIDENT_GROWTH_MAX ? [] : ['at the end'],
  ],
  [`SIGTERM ends it within ${STOP_SECONDS_MAX} s`, stopSeconds < STOP_SECONDS_MAX ? [] : ['at the end']],
];
const broken = bounds.filter(([, by]) => by.length > 0);
for (const [bound, by] of broken) say(`BROKEN: ${bound}: ${by.join('; ')}`);
say(
  broken.length === 0
    ? `PASSED: ${bounds.length} bounds kept`
    : `FAILED: ${broken.length} of ${bounds.length} bounds broken`,
);
if (broken.length > 0) process.exitCode = 1;
