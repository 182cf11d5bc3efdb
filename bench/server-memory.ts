// `npm run bench:server-memory [-- --shape 135m --precision int8]`: what the processes of a server take, as the operating
// system counts it (proportional: a page that several map is divided among them), beside what memory-plan.ts says before it is loaded.
// Rows of training have a benchmark of their own (training-memory.ts); here the trainer has only been opened.
import { execFileSync } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SERVING_PRECISIONS } from '#engine/capabilities';
import { machineMemory, planMemory } from '#engine/open-backend';
import { startBenchServer } from './bench-server.ts';
import { makeModelDirectory } from './model-directory.ts';
import { SHAPES } from './shapes.ts';

const { values: flags } = parseArgs({
  options: { shape: { type: 'string', default: '135m' }, precision: { type: 'string', default: 'float32' } },
});
const config = SHAPES[flags.shape];
const precision = SERVING_PRECISIONS.find((each) => each === flags.precision);
if (!config || !precision) throw new Error(`unknown --shape ${flags.shape} or --precision ${flags.precision}`);

/** Of a process and its children. */
async function proportionalBytes(pid: number): Promise<number> {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = table.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const pids = pairs.filter(([own, parent]) => own === pid || parent === pid).map(([own]) => own);
  let bytes = 0;
  for (const each of pids) {
    const rollup = await readFile(`/proc/${each}/smaps_rollup`, 'utf8').catch(() => '');
    bytes += 1024 * Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
  }
  return bytes;
}

const tokenizer = fileURLToPath(new URL('../test/golden/fixtures/tokenizers/qwen/', import.meta.url));
const directory = await makeModelDirectory(config);
for (const name of ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'])
  await copyFile(join(tokenizer, name), join(directory, name));
const data = await mkdtemp(join(tmpdir(), 'whetstone-bench-memory-'));
const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;
try {
  const server = await startBenchServer(data, {}, { flags: ['--model', directory, '--precision', precision] });
  const limits = { contextLengthMax: null, cacheBytes: null, prefixCacheBytes: null, trainingMemoryBytes: null };
  const wishes = { samples: true, trains: true, precision, memoryBytes: machineMemory(), ...limits };
  const { parts } = planMemory([{ id: 'bench', config }], wishes);
  const loaded = parts.filter(({ part }) => part === 'processes' || part === 'weights');
  const planned = loaded.reduce((sum, { bytes }) => sum + bytes, 0);
  const atStart = await proportionalBytes(server.pid);
  const prompt = Array.from({ length: 400 }, (_, i) => i);
  const body = JSON.stringify({ prompt, n: 8, max_tokens: 64, ignore_eos: true });
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${server.url}/v1/completions`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(await answer.text());
  await answer.text();
  const used = await proportionalBytes(server.pid);
  await server.stop();
  process.stdout.write(
    `${flags.shape} ${precision}: planned ${gigabytes(planned)} for processes and weights; ${gigabytes(atStart)} at the start, ${gigabytes(used)} after eight answers of 464 tokens\n`,
  );
} finally {
  await rm(directory, { recursive: true, force: true });
  await rm(data, { recursive: true, force: true });
}
