// `npm run bench -- jobs`: what a training job costs in addition to the training: from submission to `training_started`; from the last gradient
// step to an answer of the new checkpoint; and the server's memory while it receives a body of 200 MB. The server runs in a process of its
// own, on the starter model.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client, type RlJobRequest } from '#client/client';
import { cpuName, residentBytes, startBenchServer } from './bench-server.ts';
import { median } from './measurement.ts';

type Trajectory = NonNullable<RlJobRequest['trajectory_groups']>[number]['trajectories'][number];

const KEY = 'wk-bench';
const ROUNDS = 15;
const LARGE_BYTES = 200e6;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** A Choice as chat answers have them, 85 bytes per token. */
function trajectory(seed: number, tokens: number): Trajectory {
  const content = Array.from({ length: tokens }, (_, i) => ({
    token: `token_id:${300 + ((i * 31 + seed * 7) % 1000)}`,
    logprob: -((i * 0.137 + seed * 0.71) % 3) - 0.0123456789,
    bytes: [97],
    top_logprobs: [],
  }));
  const choice = {
    index: 0,
    finish_reason: 'stop',
    message: { role: 'assistant', content: 'yes' },
    logprobs: { content },
  };
  return { messages_and_choices: [{ role: 'user', content: 'Yes or no?' }, choice], reward: seed % 3 };
}
const group = (seed: number, tokens: number) => ({
  trajectories: Array.from({ length: 4 }, (_, i) => trajectory(4 * seed + i, tokens)),
});

/** Events have the time when they were written; we have the time when we asked. */
async function timeJob(client: Client, url: string, modelId: string, round: number) {
  const submittedMs = performance.now();
  const { id } = await client.submitTrainingJob({ model_id: modelId, trajectory_groups: [group(round, 12)] });
  let startedMs = 0;
  let lastStepMs = 0;
  await client.follow(id, {
    deadlineMs: 60_000,
    onEvent({ type }) {
      if (type === 'training_started') startedMs = performance.now() - submittedMs;
      if (type === 'gradient_step') lastStepMs = performance.now();
    },
  });
  const model = `wandb-artifact:///default/bench/jobs:step${round + 1}`;
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 1 });
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(await answer.text());
  await answer.json();
  return { startedMs, callableMs: performance.now() - lastStepMs };
}

/** Streams the body, so that this process does not run out of memory itself. */
function postLarge(url: string, modelId: string): Promise<{ id: string; bytes: number; seconds: number }> {
  const text = JSON.stringify(group(1, 300));
  const count = Math.ceil(LARGE_BYTES / (text.length + 1));
  const head = `{"model_id":"${modelId}","experimental_config":{"learning_rate":1e-5},"trajectory_groups":[`;
  const bytes = head.length + count * text.length + count - 1 + 2;
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'content-length': bytes };
    const call = httpRequest(`${url}/v1/preview/training-jobs`, { method: 'POST', headers }, (response) => {
      let answer = '';
      response.on('data', (part: Buffer) => (answer += part.toString()));
      response.on('end', () => {
        const { id } = JSON.parse(answer) as { id?: string };
        if (id) resolve({ id, bytes, seconds: (performance.now() - startMs) / 1000 });
        else reject(new Error(answer));
      });
    });
    call.on('error', reject);
    call.write(head);
    let sent = 0;
    const send = (): void => {
      while (sent < count) if (!call.write((sent++ ? ',' : '') + text)) return void call.once('drain', send);
      call.end(']}');
    };
    send();
  });
}

async function timeLargeBody(client: Client, url: string, pid: number, modelId: string) {
  const beforeBytes = residentBytes(pid);
  let peakBytes = 0;
  const watch = setInterval(() => (peakBytes = Math.max(peakBytes, residentBytes(pid))), 50);
  const { id, bytes, seconds } = await postLarge(url, modelId);
  const acceptedPeakBytes = Math.max(peakBytes, residentBytes(pid));
  // The plan is made in the same process, so it must fit as well.
  await client
    .follow(id, {
      deadlineMs: 300_000,
      onEvent: ({ type }) => void (type === 'training_started' ? client.cancelTrainingJob(id) : null),
    })
    .catch(() => null);
  clearInterval(watch);
  return { bytes, seconds, beforeBytes, acceptedPeakBytes, plannedPeakBytes: peakBytes };
}

const data = await mkdtemp(join(tmpdir(), 'whetstone-bench-jobs-'));
const server = await startBenchServer(data);
const { url } = server;
try {
  const client = createClient({ baseUrl: url, apiKey: KEY });
  const { id: modelId } = await client.registerModel({
    project: 'bench',
    name: 'jobs',
    base_model: 'whetstone/starter',
  });
  const times: { startedMs: number; callableMs: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await timeJob(client, url, modelId, round));
  const startedMs = median(times.map((t) => t.startedMs));
  const callableMs = median(times.map((t) => t.callableMs));
  say(
    `submit → training_started: ${startedMs.toFixed(0)} ms; last gradient step → answer of the checkpoint: ${callableMs.toFixed(0)} ms (medians of ${ROUNDS})`,
  );
  const large = await timeLargeBody(client, url, server.pid, modelId);
  const times200 = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB (${(bytes / large.bytes).toFixed(2)}x)`;
  say(
    `a body of ${(large.bytes / 1e6).toFixed(0)} MB: accepted in ${large.seconds.toFixed(1)} s, memory ${(large.beforeBytes / 1e6).toFixed(0)} MB → ${times200(large.acceptedPeakBytes)}, with its plan ${times200(large.plannedPeakBytes)}`,
  );
  const result = { cpu: cpuName(), node: process.version, startedMs, callableMs, large };
  await writeFile('bench/results/jobs.json', `${JSON.stringify(result, null, 2)}\n`);
} finally {
  await server.stop();
  await rm(data, { recursive: true, force: true });
}
