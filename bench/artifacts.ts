// `npm run bench -- artifacts`: uploads a file of 1 GB to the artifact store and downloads it, measuring the server's memory; and measures how
// long 10,000 rows take from submission to the first event. JSON in bench/results/.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pushArtifact } from '#client/artifact-files';
import { createClient, type Client } from '#client/client';
import { cpuName, residentBytes, startBenchServer } from './bench-server.ts';

const LARGE_BYTES = 1_000_000_000;
const ROWS = 10_000;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function watchMemory<T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ result: T; seconds: number; grownBytes: number }> {
  const before = residentBytes(pid);
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, residentBytes(pid))), 50);
  const startMs = performance.now();
  const result = await work();
  clearInterval(watch);
  return { result, seconds: (performance.now() - startMs) / 1000, grownBytes: peak - before };
}

async function writeLargeFile(path: string): Promise<string> {
  const file = await open(path, 'w');
  const hash = createHash('sha256');
  const block = Buffer.alloc(1_000_000);
  for (let i = 0; i < LARGE_BYTES / block.length; i++) {
    block.fill(`block ${i} `);
    hash.update(block);
    await file.write(block);
  }
  await file.close();
  return hash.digest('hex');
}

async function transfer(client: Client, pid: number, directory: string) {
  const path = join(directory, 'large.bin');
  const sha256 = await writeLargeFile(path);
  const name = '~/bench/large';
  const up = await watchMemory(pid, async () => {
    const content = Readable.toWeb(createReadStream(path)) as ReadableStream;
    await client.uploadArtifactFile(name, 'large.bin', content, sha256);
  });
  await client.commitArtifact(name, { files: [{ path: 'large.bin', sha256 }] });
  const down = await watchMemory(pid, async () => {
    const hash = createHash('sha256');
    for await (const chunk of await client.downloadArtifactFile(name, 'large.bin')) hash.update(chunk);
    return hash.digest('hex');
  });
  if (down.result !== sha256) throw new Error('the file came back changed');
  const { result: _up, ...upload } = up;
  const { result: _down, ...download } = down;
  return { bytes: LARGE_BYTES, upload, download };
}

async function timeRows(client: Client, directory: string) {
  const rows = Array.from({ length: ROWS }, (_, i) => {
    const messages = [
      { role: 'user', content: `What is ${i} + ${(i * 7) % 1000}? Say it in a sentence with both numbers.` },
      { role: 'assistant', content: `${i} + ${(i * 7) % 1000} is ${i + ((i * 7) % 1000)}.` },
    ];
    return JSON.stringify({ messages });
  });
  const path = join(directory, 'train.jsonl');
  await writeFile(path, rows.join('\n'));
  const { uri } = await pushArtifact(client, '~/bench/rows', path);
  const { id: model_id } = await client.registerModel({
    project: 'bench',
    name: 'sft',
    base_model: 'whetstone/starter',
  });
  const startMs = performance.now();
  const { id } = await client.submitSftJob({ model_id, training_data_url: uri, config: { batch_size: 16 } });
  let startedMs = 0;
  const onEvent = ({ type }: { type: string }) => {
    if (type !== 'training_started') return;
    startedMs = performance.now() - startMs;
    void client.cancelTrainingJob(id);
  };
  await client.follow(id, { deadlineMs: 120_000, onEvent }).catch(() => null); // it was cancelled
  return { rows: ROWS, startedMs };
}

const directory = await mkdtemp(join(tmpdir(), 'whetstone-bench-artifacts-'));
const server = await startBenchServer(join(directory, 'data'));
try {
  const client = createClient({ baseUrl: server.url, apiKey: server.key });
  const large = await transfer(client, server.pid, directory);
  const costs = ({ seconds, grownBytes }: { seconds: number; grownBytes: number }) =>
    `${seconds.toFixed(1)} s, memory +${(grownBytes / 1e6).toFixed(0)} MB`;
  say(`1 GB up: ${costs(large.upload)}; down: ${costs(large.download)}`);
  const rows = await timeRows(client, directory);
  say(`${ROWS} rows: submit → training_started ${(rows.startedMs / 1000).toFixed(2)} s`);
  const results = { cpu: cpuName(), node: process.version, large, rows };
  await writeFile(new URL('results/artifacts.json', import.meta.url), `${JSON.stringify(results, null, 2)}\n`);
} finally {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}
