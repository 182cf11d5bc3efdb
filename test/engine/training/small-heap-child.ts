// A process that prepares and trains an SFT job of many short rows, then prints how the job ended. Its parent gives it a small heap.
import { Readable } from 'node:stream';
import { createId } from '#base/ids';
import { labRunner, openJobLab, OWNER } from '../../support/crash/job-lab.ts';

const ROWS = Number(process.argv[2]);
const LINES = 500;

function* content(): Generator<Buffer> {
  const line = (n: number) =>
    JSON.stringify({
      messages: [
        { role: 'user', content: String(n % 10) },
        { role: 'assistant', content: 'ok' },
      ],
    });
  for (let made = 0; made < ROWS; made += LINES) {
    yield Buffer.from(Array.from({ length: LINES }, (_, i) => `${line(made + i)}\n`).join(''));
  }
}

const lab = await openJobLab();
const world = await lab.createWorld();
const name = { entity: 'team', project: 'p', name: 'data' };
const rows = { content: Readable.from(content()), declaredBytes: null, sha256: null };
const { sha256 } = await world.artifacts.upload(OWNER, name, rows);
const files = [{ path: 'train.jsonl', sha256 }];
await world.artifacts.commit(OWNER, name, { type: 'dataset', metadata: {}, aliases: [], files });
const request = {
  modelId: world.modelId,
  data: { ...name, version: null },
  config: { batchSize: 50_000 },
  warnings: [],
};
const { id } = await world.jobs.submitSft(OWNER, request, createId());
const runner = labRunner(lab, world, 60_000);
await runner.start();
for await (const _ of world.jobs.followEvents(OWNER, id, null, AbortSignal.timeout(120_000)));
const { status, errorMessage } = await world.jobs.get(OWNER, id);
await runner.stop();
await lab.close();
console.log(JSON.stringify({ status, errorMessage }));
