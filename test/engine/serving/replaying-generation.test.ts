// Generation over an engine whose process is lost, with a real process: what clients see of it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import type { InferenceEngine, TokenEvent } from '#engine/inference-engine';
import { INFERENCE_TIMINGS, openInferenceEngine } from '#engine/onnx/open-engines';
import { searchBeams } from '#services/chat/beam-search';
import { generateWithReplay, prepareWithRetry } from '#services/chat/replaying-generation';
import { bitsOf, request, sampling } from '../../support/contract/inference-engine.ts';
import { createRecordingLog, pidOf } from '../../support/serving/recording-log.ts';
import { TEST_LIMITS } from '../../support/serving/test-limits.ts';
import { writeTinyModel, type TinyModel } from '../../support/serving/tiny-model.ts';

let model: TinyModel;
let engine: InferenceEngine;
const log = createRecordingLog();
const signal = AbortSignal.timeout(120_000);
const replaying = (asked: ReturnType<typeof request>, exactReplay = true) =>
  generateWithReplay(engine, asked, { exactReplay }, silentLog, signal);

beforeAll(async () => {
  model = await writeTinyModel();
  const restartDelaysMs = [0];
  const timings = { ...INFERENCE_TIMINGS, restartDelaysMs };
  engine = await openInferenceEngine({
    modelDirectory: model.directory,
    threads: 1,
    limits: TEST_LIMITS,
    timings,
    log,
  });
});
afterAll(async () => {
  await engine.close();
  await model.remove();
});

async function read(stream: AsyncIterable<TokenEvent>, meanwhile: (event: TokenEvent) => void = () => {}) {
  const events: TokenEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    meanwhile(event);
  }
  return bitsOf(events.sort((a, b) => a.choiceIndex - b.choiceIndex));
}

const kill = () => process.kill(pidOf(log), 'SIGKILL');

test('a request that has not streamed yet runs on the next process, with the same answer', async () => {
  const adapter = await model.writeAdapter('survivor', { seed: 5 });
  const asked = request({ adapter, n: 2, sampling: sampling({ maxTokens: 30 }) });
  const undisturbed = await read(engine.generate(asked, signal));
  process.kill(pidOf(log), 'SIGSTOP'); // so that it cannot answer before it is killed
  const retried = read(replaying(asked));
  kill();
  expect(await retried).toEqual(undisturbed);
});

test('a stream continues where it was: no token arrives twice, none is missing', async () => {
  const asked = request({ n: 2, sampling: sampling({ maxTokens: 200 }) });
  const undisturbed = await read(engine.generate(asked, signal));
  const killAt = new Set([20, 200]);
  let seen = 0;
  expect(await read(replaying(asked), () => void (killAt.has(++seen) && kill()))).toEqual(undisturbed);
});

test('a request that loses one process after another ends with the cause', async () => {
  const killing = read(replaying(request({ sampling: sampling({ maxTokens: 480 }) })), kill);
  await expect(killing).rejects.toMatchObject({ code: 'engine_unavailable' });
});

test('without exact replay, one that streams ends with the cause, and one that has not begun is asked for again', async () => {
  const asked = request({ sampling: sampling({ maxTokens: 200 }) });
  const seen: TokenEvent[] = [];
  const streaming = read(replaying(asked, false), (event) => void (seen.push(event) === 3 && kill()));
  await expect(streaming).rejects.toMatchObject({
    code: 'engine_unavailable',
    message: expect.stringContaining('SIGKILL') as string,
  });
  expect(seen.length).toBeLessThan(200);

  await read(engine.generate(request(), signal)); // the next process is running
  process.kill(pidOf(log), 'SIGSTOP');
  const retried = read(replaying(asked, false));
  kill();
  expect(await retried).toHaveLength(200);
});

test('a search for beams survives it too', async () => {
  const asked = request({ n: 2, sampling: sampling({ maxTokens: 6 }) });
  const search = () => read(searchBeams((step) => replaying(step), asked, { lengthPenalty: 1 }));
  const undisturbed = await search();
  process.kill(pidOf(log), 'SIGSTOP');
  const retried = search();
  kill();
  expect(await retried).toEqual(undisturbed);
});

test('a constraint that was being compiled is compiled by the next process', async () => {
  const { restarts } = engine.status();
  process.kill(pidOf(log), 'SIGSTOP');
  const prepared = prepareWithRetry(engine, { kind: 'regex', source: 'a' }, { payer: 'payer', signal });
  kill();
  // This model has no vocabulary, and the next process says so.
  await expect(prepared).rejects.toMatchObject({ code: 'invalid_request' });
  expect(engine.status()).toMatchObject({ restarts: restarts + 1 });
});
