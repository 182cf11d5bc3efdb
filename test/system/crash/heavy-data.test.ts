// A job whose data takes more memory than there is: the job ends with that cause; the server and the next job continue. The
// server has a small heap, which the process that reads the data inherits.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pushArtifact } from '#client/artifact-files';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';

const HEAP_MB = 128;
const JOB_MS = 120_000;

let directory: string;
let server: ServerProcess;
let modelId: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'whetstone-heavy-'));
  const options = `${process.env['NODE_OPTIONS'] ?? ''} --max-old-space-size=${HEAP_MB}`;
  server = await createServerProcess(join(directory, 'data'), { NODE_OPTIONS: options });
  await server.start();
  const model = { project: 'p', name: 'm', base_model: 'whetstone/starter' };
  modelId = (await server.client.registerModel(model)).id;
}, 120_000);
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

const line = (content: unknown) =>
  `{"messages":[{"role":"user","content":${JSON.stringify(content)}},{"role":"assistant","content":"ok"}]}\n`;

/** Returns the job once it has ended. */
async function train(name: string, lines: string) {
  const path = join(directory, `${name}.jsonl`);
  await writeFile(path, lines);
  const { uri } = await pushArtifact(server.client, `default/p/${name}`, path, { type: 'dataset' });
  const config = { batch_size: 5_000 };
  const { id } = await server.client.submitSftJob({ model_id: modelId, training_data_url: uri, config });
  await server.client.follow(id, { deadlineMs: JOB_MS }).catch(() => undefined); // it throws the job's failure
  return server.client.getTrainingJob(id);
}

test('a row that takes more memory than there is ends its job with that cause, and nothing else', async () => {
  const heavy = line(Array.from({ length: 400_000 }, () => ({ type: 'text', text: '' })));
  const pid = server.pid();
  const failed = await train('heavy', heavy);
  expect(failed.status, failed.error_message ?? '').toBe('failed');
  expect(failed.error_message).toMatch(/process that reads the job's data .* MB of memory/);
  const trained = await train('light', line('Hi').repeat(2_000));
  expect(trained.error_message).toBeNull();
  expect(trained.status).toBe('succeeded');
  expect(server.pid()).toBe(pid);
}, 300_000);
