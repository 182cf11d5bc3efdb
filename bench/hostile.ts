// `npm run bench -- hostile --seconds 600`: a real server on the starter model, 64 honest chat streams, and next to them malicious clients
// with a key of their own (hostile-clients.ts). No honest stream may fail, health must stay quick, and afterwards an idle server must stop
// at once. The load runs twice, first to warm up: heaps grow to the largest bodies, code is compiled. After each run, once the server is
// idle and its garbage collected, the live memory is measured: it may not grow. What the sampler keeps by design is filled to its bounds
// first: cache slots for as many sequences as it serves at once, which it never gives back, and computed prompts. Resident bytes are judged
// more loosely, since allocators keep some of what was freed. The last line is the verdict; exits with 1 if a bound is broken.
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cpuName, startBenchServer, type BenchServer } from './bench-server.ts';
import { beHostile, type Endings } from './hostile-clients.ts';
import { collectLiveMemory, type LiveMemory } from './live-memory.ts';
import { startProbe } from './probing.ts';
import { residentBytesOf } from './process-memory.ts';
import { quantiles } from './quantiles.ts';
import { askStream } from './stream.ts';

const MODEL = 'whetstone/starter';
const HEALTH_P99_MS_MAX = 200;
/** Allowed growth per process: a fraction, or this many bytes if that is more. */
const LIVE_GROWTH_MAX = { part: 0.15, bytes: 10e6 };
/** Allowed growth of all processes together: allocators keep the memory of the largest bodies for a while. */
const RESIDENT_GROWTH_MAX = 0.5;
const STOP_SECONDS_MAX = 5;
/** At most a sixth of the time. */
const WARM_UP_SECONDS_MAX = 60;
/** Work left behind by the malicious clients must end within this time. */
const CALM_MS = 10_000;
const PREFIX_CACHE_MB = 32;
/** Of one request; eight of them fill a batch. */
const CHOICES = 16;
/** More than any client here asks for: cache slots have the largest size in use. */
const TOKENS_MAX = 230;
/** Together more than the cache of computed prompts holds: 3 kB per token. */
const LONG_PROMPTS = { count: 24, tokens: 900 };

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '600' }, streams: { type: 'string', default: '64' } },
});
const seconds = Number(values.seconds);
const streams = Number(values.streams);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const data = await mkdtemp(join(tmpdir(), 'whetstone-bench-hostile-'));
const env = { WHETSTONE_PREFIX_CACHE_MB: String(PREFIX_CACHE_MB) };
const server = await startBenchServer(data, env, { inspected: true, flags: ['--trust-request-chat-template'] });
const key = await makeKey(server);

const failures = new Map<string, number>();
const chatMs: number[] = [];
const endings: Endings = new Map();

async function stayHonest(stream: number, agent: Agent, goesOn: () => boolean): Promise<void> {
  for (let turn = 0; goesOn(); turn++) {
    const startMs = performance.now();
    const messages = [{ role: 'user', content: `What is ${stream % 60} + ${turn % 39}?` }];
    const sampling = { max_tokens: 32, ignore_eos: true, temperature: 1, seed: stream * 10_000 + turn };
    const answer = await askStream(server, agent, { messages, ...sampling }).catch((error: Error) => error.message);
    chatMs.push(performance.now() - startMs);
    const failure =
      typeof answer === 'string'
        ? answer
        : answer.status !== 200
          ? `status ${answer.status}`
          : answer.complete
            ? null
            : 'broken off';
    if (failure === null) continue;
    failures.set(failure, (failures.get(failure) ?? 0) + 1);
    await delay(100);
  }
}

/** For a client that is not an administrator. */
async function makeKey({ url, key: own }: BenchServer): Promise<string> {
  const headers = { authorization: `Bearer ${own}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'hostile' });
  const answer = await fetch(`${url}/v1/keys`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`could not create a key: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { secret: string }).secret;
}

/** All load at once, then an idle period. */
async function load(forSeconds: number, seed: number): Promise<void> {
  const endMs = performance.now() + 1000 * forSeconds;
  const goesOn = () => performance.now() < endMs;
  const agent = new Agent({ keepAlive: true, maxSockets: streams });
  const [ended] = await Promise.all([
    beHostile({ url: server.url, key, model: MODEL, seed, goesOn }),
    ...Array.from({ length: streams }, (_, stream) => stayHonest(stream, agent, goesOn)),
  ]);
  for (const [end, count] of ended) endings.set(end, (endings.get(end) ?? 0) + count);
  agent.destroy();
}

async function fillCaches(): Promise<void> {
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
  const ask = async (fields: object) => {
    const body = JSON.stringify({ model: MODEL, temperature: 1, ignore_eos: true, ...fields });
    const answer = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`the caches could not be filled: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  const says = (content: string) => [{ role: 'user', content }];
  const whole = { messages: says('Tell me all.'), n: CHOICES, max_tokens: TOKENS_MAX };
  await Promise.all(Array.from({ length: 8 }, () => ask(whole)));
  const long = (i: number) => ({
    messages: says(`${i} and ${i + 1}, `.repeat(1_000)),
    truncate_prompt_tokens: LONG_PROMPTS.tokens,
    max_tokens: 1,
  });
  for (let i = 0; i < LONG_PROMPTS.count; i++) await ask(long(i));
}

interface Idle {
  readonly live: readonly LiveMemory[];
  readonly resident: Readonly<Record<string, number>>;
}

async function measureIdle(): Promise<Idle> {
  await delay(CALM_MS);
  return { live: await collectLiveMemory(server.inspectors), resident: residentBytesOf(server.pid) };
}

const warmUp = Math.min(WARM_UP_SECONDS_MAX, seconds / 6);
await fillCaches();
const probe = startProbe(server, 100, ['health']);
await load(warmUp, 1);
const warm = await measureIdle();
await load(seconds - warmUp, 2);
const { health } = await probe.stop();
const last = await measureIdle();
const stopMs = performance.now();
await server.stop();
const stopSeconds = (performance.now() - stopMs) / 1000;
await rm(data, { recursive: true, force: true });

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);
const liveBytes = ({ live }: Idle, name: string) =>
  sum(live.filter((each) => each.process === name).map(({ heapBytes, externalBytes }) => heapBytes + externalBytes));
const residentBytes = ({ resident }: Idle) => sum(Object.values(resident));
const residentGrowth = residentBytes(last) / residentBytes(warm) - 1;
function leaks(name: string): boolean {
  const before = liveBytes(warm, name);
  return liveBytes(last, name) - before > Math.max(LIVE_GROWTH_MAX.part * before, LIVE_GROWTH_MAX.bytes);
}
const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
const percent = (part: number) => `${(100 * part).toFixed(1)} %`;

const failed = sum([...failures.values()]);
const { p50, p99 } = quantiles(chatMs);
say(`${cpuName()}, ${availableParallelism()} cores, ${seconds} s`);
say(
  `honest: ${chatMs.length} streams, ${failed} failed${failed > 0 ? ` ${JSON.stringify([...failures])}` : ''}; p50 / p99 ${p50} / ${p99} ms`,
);
say(`health: ${health.count} answers, p50 ${health.p50} ms, p99 ${health.p99} ms, longest ${health.max} ms`);
say('memory of the idle server, after the warm-up and at the end:');
for (const { process: name, ...now } of last.live) {
  const before = warm.live.find((each) => each.process === name);
  const both = (part: 'heapBytes' | 'committedBytes' | 'externalBytes') =>
    `${megabytes(before?.[part] ?? 0)}, ${megabytes(now[part])}`;
  say(
    `  ${name}: alive in the heap ${both('heapBytes')}; in buffers ${both('externalBytes')}; heap with its free pages ${both('committedBytes')}; resident ${megabytes(warm.resident[name] ?? 0)}, ${megabytes(last.resident[name] ?? 0)}`,
  );
}
say(
  `  all together: resident ${megabytes(residentBytes(warm))}, ${megabytes(residentBytes(last))}, ${percent(residentGrowth)}`,
);
say(`SIGTERM when idle: ${stopSeconds.toFixed(1)} s`);
say(
  `hostile:\n${[...endings]
    .sort()
    .map(([end, n]) => `  ${end}, ${n}`)
    .join('\n')}`,
);

const bounds: readonly [string, boolean][] = [
  ['no honest stream fails', chatMs.length > 0 && failed === 0],
  [`health p99 under ${HEALTH_P99_MS_MAX} ms`, health.p99 < HEALTH_P99_MS_MAX],
  [
    'all processes answer what they hold',
    warm.live.length > 0 && warm.live.every(({ process: name }) => liveBytes(last, name) > 0),
  ],
  ...last.live.map(({ process: name }): [string, boolean] => [
    `what is alive in ${name} grows by less than ${percent(LIVE_GROWTH_MAX.part)} or ${megabytes(LIVE_GROWTH_MAX.bytes)}`,
    !leaks(name),
  ]),
  [`what is resident grows by less than ${percent(RESIDENT_GROWTH_MAX)}`, residentGrowth < RESIDENT_GROWTH_MAX],
  [`SIGTERM under ${STOP_SECONDS_MAX} s`, stopSeconds < STOP_SECONDS_MAX],
  ['nobody gets a 500 or no answer', ![...endings.keys()].some((end) => /: (?:500|no answer)$/.test(end))],
];
const broken = bounds.flatMap(([bound, isKept]) => (isKept ? [] : [bound]));
for (const bound of broken) say(`BROKEN: ${bound}`);
say(
  broken.length === 0
    ? `PASSED: ${bounds.length} bounds kept`
    : `FAILED: ${broken.length} of ${bounds.length} bounds broken`,
);
if (broken.length > 0) process.exitCode = 1;
