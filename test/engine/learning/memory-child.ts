// A process that trains with two losses and computes log-probabilities, with rows as long as its budget allows, and prints (with
// --expose-gc) the bytes it holds on top of what it held when ready: after each, and after closing the session.
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { aSession } from '../../support/learning/a-session.ts';
import { randomPrompt } from '../../support/contract/inference-engine.ts';
import { plainRow } from '../../support/learning/tiny-decoders.ts';
import { rowLogprobs, trainRow } from '../../support/learning/one-row.ts';

const [modelDirectory, memoryBytes] = process.argv.slice(2);
const engine = await openOnnxTrainingEngine({
  modelDirectory: modelDirectory!,
  threads: 1,
  graphIdleMs: 0,
  memoryBytes: Number(memoryBytes),
  log: silentLog,
});
const session = await engine.open(aSession({ lora: { rank: 4, alpha: 8, seed: 1 } }), new AbortController().signal);
const { rowLengthMax, contextLength } = engine.limits;
const longRow = plainRow(randomPrompt(rowLengthMax, 1), {});
const row = { ...longRow, positions: longRow.positions.map((i) => i % contextLength) };
const atFirst = process.memoryUsage().rss;
const allocatedBytes = (): number => {
  globalThis.gc!(); // masks of rows can be collected by now
  return process.memoryUsage().rss - atFirst;
};
const afterLoss = async (factor: number): Promise<number> => {
  const perToken = { op: 'mul', x: { op: 'constant', value: factor }, y: { op: 'logprob' } } as const;
  await trainRow(session, row, { name: `times ${factor}`, perToken, metrics: {} });
  return allocatedBytes();
};
const afterFirst = await afterLoss(1);
const afterSecond = await afterLoss(2);
await rowLogprobs(session, row);
const afterScores = allocatedBytes();
await session.close();
console.log(JSON.stringify({ working: [afterFirst, afterSecond, afterScores], closed: allocatedBytes() }));
await engine.close();
