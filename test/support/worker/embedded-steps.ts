// Trains on the embedded engine, for comparison with a worker: `embedded-steps.ts MODEL FROM OUT TAPE`. The tape is a file of
// calls (tape.ts); OUT is created, with the adapter and its optimizer after the last call.
import { mkdir, readFile } from 'node:fs/promises';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { aSession } from '../learning/a-session.ts';
import { toRow, type Call } from './tape.ts';
import { trainRow } from '../learning/one-row.ts';

const [modelDirectory, from, out, tape] = process.argv.slice(2);
if (!modelDirectory || !from || !out || !tape) throw new Error('usage: embedded-steps.ts MODEL FROM OUT TAPE');
const calls = JSON.parse(await readFile(tape, 'utf8')) as Call[];
const engine = await openOnnxTrainingEngine({ modelDirectory, threads: 1, memoryBytes: 4e9, log: silentLog });
const session = await engine.open(aSession({ from }), new AbortController().signal);
for (const call of calls) {
  if (call.verb === 'optimStep') await session.optimStep(call.params);
  else await trainRow(session, toRow(call.row), call.loss);
}
await mkdir(out);
await session.save(out, { resumable: true });
await session.close();
await engine.close();
