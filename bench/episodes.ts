// `npm run bench -- episodes`: what recording the calls of agents costs. 32 agents at once hold conversations of four streamed turns with a real
// server; the peer is the same server in the same run, asked at addresses without an episode. What the server's process uses more is compared
// with what server and engines use together: the engines do the same for both, but on a busy machine in batches of other sizes. Also
// measures the wait between the last token and the end of the stream, and stored bytes; then copies the recorded episodes until there are
// 100,000 calls and times the lists. `--model DIRECTORY --base NAME` takes a model other than the starter. Writes bench/results/episodes.json.
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from '#client/client';
import { databasePath } from '../src/config/data-directory.ts';
import { cpuName, startBenchServer, type BenchServer } from './bench-server.ts';
import { copyEpisodes } from './copied-episodes.ts';
import { say } from './measurement.ts';
import { processorMsByProcess } from './process-time.ts';
import { quantile, quantiles, type Quantiles } from './quantiles.ts';
import { askStream } from './stream.ts';

const STREAMS = 32;
const TURNS = 4;
/** Different ones, so that the streams do not end together. */
const tokensOf = (agent: number, turn: number): number => 33 + ((agent * 7 + turn * 13) % 64);
const MODEL = 'bench/agent';
const CALLS_LISTED = 100_000;
const LIST_ROUNDS = 100;
const LIMITS = { processorShare: 0.02, lastChunkMs: 5, listMs: 50 };

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '12' }, model: { type: 'string' }, base: { type: 'string' } },
});
const rounds = Number(values.rounds);
const model = values.model;

interface Round {
  /** Processor time per call, as the other. */
  readonly serverMs: number;
  readonly enginesMs: number;
  readonly lastChunkMs: readonly number[];
}

/** Each agent's answers continue its own conversation, of which the server is told all, as agents do. */
async function play(server: BenchServer, round: number, isRecorded: boolean): Promise<Round> {
  const agent = new Agent({ keepAlive: true, maxSockets: STREAMS });
  const lastChunkMs: number[] = [];
  const before = processorMsByProcess(server.pid);
  const agents = Array.from({ length: STREAMS }, async (_, at) => {
    const prefix = isRecorded ? `/e/group-${round}/run-${round}-${at}` : '';
    const messages = [{ role: 'system', content: `You are agent ${at} of round ${round}. Answer in one sentence.` }];
    for (let turn = 0; turn < TURNS; turn++) {
      messages.push({ role: 'user', content: `What is ${at} + ${turn}? And what does that remind you of?` });
      const sampling = { max_tokens: tokensOf(at, turn), ignore_eos: true, temperature: 1, seed: round * 1_000 + at };
      const answer = await askStream(server, agent, { model: MODEL, messages, ...sampling }, prefix);
      if (answer.status !== 200 || !answer.complete) throw new Error(`a stream failed with status ${answer.status}`);
      lastChunkMs.push(answer.lastChunkMs);
      messages.push({ role: 'assistant', content: `It is ${at + turn}, which reminds me of turn ${turn}.` });
    }
  });
  await Promise.all(agents);
  agent.destroy();
  const after = processorMsByProcess(server.pid);
  const perCall = (process: keyof typeof after) => (after[process] - before[process]) / (STREAMS * TURNS);
  return { serverMs: perCall('server'), enginesMs: perCall('engines'), lastChunkMs };
}

/** The order alternates, so that a machine that becomes slower does not decide. The first round warms up. */
async function compare(server: BenchServer) {
  const [plain, recorded]: [Round[], Round[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    const order = round % 2 === 0 ? [false, true] : [true, false];
    for (const isRecorded of order) {
      const played = await play(server, round, isRecorded);
      if (round > 0) (isRecorded ? recorded : plain).push(played);
    }
  }
  const added = recorded.map(({ serverMs }, i) => serverMs - plain[i]!.serverMs);
  const plainMs = mean(plain.map(({ serverMs, enginesMs }) => serverMs + enginesMs));
  const lastChunk = (of: Round[]) => quantiles(of.flatMap(({ lastChunkMs }) => lastChunkMs));
  return {
    processorMsPerCall: {
      plain: plainMs,
      plainInServer: mean(plain.map(({ serverMs }) => serverMs)),
      added: mean(added),
      standardError: standardError(added),
    },
    processorShare: mean(added) / plainMs,
    lastChunkMs: { plain: lastChunk(plain), recorded: lastChunk(recorded) },
  };
}

const mean = (xs: readonly number[]): number => xs.reduce((sum, x) => sum + x, 0) / xs.length;
const standardError = (xs: readonly number[]): number =>
  Math.sqrt(mean(xs.map((x) => (x - mean(xs)) ** 2)) / Math.max(1, xs.length - 1));

async function get(server: BenchServer, path: string): Promise<unknown> {
  const response = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${server.key}` } });
  if (response.status !== 200) throw new Error(`${path}: ${await response.text()}`);
  return response.json();
}

async function timeLists(server: BenchServer, modelId: string): Promise<Record<string, Quantiles>> {
  const newest = (await get(server, '/v1/preview/episodes?limit=1')) as { data: { id: string }[] };
  const one = `/v1/preview/episodes/${newest.data[0]!.id}`;
  const paths = {
    'newest 100': '/v1/preview/episodes?limit=100',
    'of a model': `/v1/preview/episodes?model_id=${modelId}&limit=100`,
    'of a group': `/v1/preview/episodes?model_id=${modelId}&group=group-${rounds}&limit=100`,
    'by status': '/v1/preview/episodes?status=rewarded&limit=100',
    'by reward': '/v1/preview/episodes?reward_min=0.9&limit=100',
    'by text': '/v1/preview/episodes?search=reminds&limit=100',
    'calls of one': one,
    'tokens of one': `${one}/tokens`,
  };
  const times: Record<string, Quantiles> = {};
  for (const [what, path] of Object.entries(paths)) {
    const ms: number[] = [];
    for (let i = 0; i < LIST_ROUNDS; i++) {
      const startMs = performance.now();
      await get(server, path);
      ms.push(performance.now() - startMs);
    }
    times[what] = quantiles(ms);
  }
  return times;
}

const data = await mkdtemp(join(tmpdir(), 'whetstone-bench-episodes-'));
const open = () => startBenchServer(data, {}, { flags: model === undefined ? [] : ['--model', model] });
let server = await open();
const client = createClient({ baseUrl: server.url, apiKey: server.key });
const base = values.base ?? 'whetstone/starter';
const { id: modelId } = await client.registerModel({ project: 'bench', name: 'agent', base_model: base });
const cost = await compare(server);
const { added, plain, standardError: error } = cost.processorMsPerCall;
say(
  `a call of 64 tokens (mean) takes ${plain.toFixed(2)} ms of processor time; recording it ${added.toFixed(3)} ± ${error.toFixed(3)} ms more (${(100 * cost.processorShare).toFixed(1)} %)`,
);
const { lastChunkMs } = cost;
say(
  `from the last token to the end, p50 / p99: ${lastChunkMs.plain.p50} / ${lastChunkMs.plain.p99} ms; recorded ${lastChunkMs.recorded.p50} / ${lastChunkMs.recorded.p99} ms`,
);

let [calls, prompt, sampled, bytes] = [0, 0, 0, 0];
for await (const episode of client.listEpisodes({ model_id: modelId })) {
  calls += episode.call_count;
  sampled += episode.trained_token_count;
  prompt += episode.token_count - episode.trained_token_count;
  await client.rewardEpisode(episode.id, { reward: (calls % 11) / 10 });
}
await server.stop();
const path = databasePath(data);
const copies = await copyEpisodes(path, Math.ceil(CALLS_LISTED / calls));
bytes = (await stat(path)).size;
const storedBytesPerToken = bytes / (copies * (prompt + sampled));
say(
  `${copies * calls} calls with ${copies * prompt} tokens of prompts and ${copies * sampled} sampled ones occupy ${Math.round(bytes / 1e6)} MB: ${storedBytesPerToken.toFixed(1)} bytes per token, texts included`,
);
server = await open();
const lists = await timeLists(server, modelId);
await server.stop();
await rm(data, { recursive: true, force: true });
for (const [what, { p50, p99 }] of Object.entries(lists)) say(`${what.padEnd(14)} ${p50} / ${p99} ms`);

const machine = { cpu: cpuName(), cores: availableParallelism(), node: process.version };
const stored = {
  calls: copies * calls,
  promptTokens: copies * prompt,
  sampledTokens: copies * sampled,
  bytes,
  storedBytesPerToken,
};
if (model === undefined)
  await writeFile(
    'bench/results/episodes.json',
    `${JSON.stringify({ ...machine, streams: STREAMS, ...cost, stored, lists }, null, 2)}\n`,
  );
const slowest = quantile(
  Object.values(lists).map(({ p50 }) => p50),
  1,
);
if (
  cost.processorShare > LIMITS.processorShare ||
  lastChunkMs.recorded.p99 - lastChunkMs.plain.p99 > LIMITS.lastChunkMs ||
  slowest > LIMITS.listMs
) {
  say('a limit was exceeded: 2 % of the processor time, 5 ms on the last chunk (p99), 50 ms for a list (median)');
  process.exitCode = 1;
}
