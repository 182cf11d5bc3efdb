import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { onnxCapabilities } from '#engine/onnx/onnx-backend';
import { EngineLost } from '#engine/engine-lost';
import type { InferenceEngine } from '#engine/inference-engine';
import { INFERENCE_TIMINGS, openInferenceEngine } from '#engine/onnx/open-engines';
import {
  bitsOf,
  collect,
  collectLate,
  inferenceEngineContract,
  request,
  sampling,
} from '../../support/contract/inference-engine.ts';
import { FROM_SOURCE } from '../../support/cli-command.ts';
import { createRecordingLog, pidOf } from '../../support/serving/recording-log.ts';
import { limitsOf, TEST_LIMITS } from '../../support/serving/test-limits.ts';
import { writeTinyModel, type TinyModel } from '../../support/serving/tiny-model.ts';

inferenceEngineContract('the embedded engine in a child process', {
  capabilities: onnxCapabilities('float32'),
  open: ({ directory }, queue) => {
    const limits = limitsOf(queue);
    return openInferenceEngine({ modelDirectory: directory, threads: 2, limits, log: silentLog });
  },
});

test('a stream that is not read here is not read in the child either: another gets its slots, and it continues later', async () => {
  const model = await writeTinyModel('qwen3', 5, 1024);
  const log = createRecordingLog();
  const limits = { ...TEST_LIMITS, contextLength: 1024, maxRunning: 4, unreadMs: 1 };
  const engine = await openInferenceEngine({ modelDirectory: model.directory, threads: 1, limits, log });
  const long = request({ n: 4, sampling: sampling({ seed: 1, maxTokens: 900 }) });
  const short = request({ n: 4, sampling: sampling({ seed: 2, maxTokens: 5 }) });
  const late = await collectLate(engine, long, () => collect(engine, short));
  expect(log.lines.filter(({ event }) => event === 'sequence.preempted')).toHaveLength(4);
  expect(late.map(bitsOf)).toEqual((await collect(engine, long)).map(bitsOf));
  await engine.close();
  await model.remove();
});

describe('when the child process is lost', () => {
  let model: TinyModel;
  let engine: InferenceEngine;
  const log = createRecordingLog();
  const signal = () => AbortSignal.timeout(30_000);

  beforeAll(async () => {
    model = await writeTinyModel();
    const timings = { ...INFERENCE_TIMINGS, heartbeatMs: 100, hangMs: 2_000 };
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

  test('a request that streams ends with the cause, the next one works, and the restart is counted and logged', async () => {
    const { restarts } = engine.status();
    const killed = async () => {
      for await (const _ of engine.generate(request({ sampling: sampling({ maxTokens: 490 }) }), signal())) {
        process.kill(pidOf(log), 'SIGKILL');
      }
    };
    await expect(killed()).rejects.toMatchObject({
      code: 'engine_unavailable',
      message: expect.stringContaining('SIGKILL') as string,
      retryAfterSeconds: 1,
    });
    expect(await collect(engine, request())).toHaveLength(1);
    expect(engine.status()).toMatchObject({
      ready: true,
      restarts: restarts + 1,
      lastFailure: 'was killed by SIGKILL',
    });
    const events = log.lines.filter(({ event }) => event.startsWith('engine.')).map(({ event }) => event);
    expect(events.slice(-2)).toEqual(['engine.exited', 'engine.restarted']);
  });

  test('a request that has not streamed yet ends with the cause too: whether to ask again is not the engine’s decision', async () => {
    process.kill(pidOf(log), 'SIGSTOP'); // so that it cannot answer before it is killed
    const lost = collect(engine, request());
    process.kill(pidOf(log), 'SIGKILL');
    await expect(lost).rejects.toBeInstanceOf(EngineLost);
    expect(await collect(engine, request())).toHaveLength(1);
  });

  test('a child that hangs is killed and replaced', async () => {
    const { restarts } = engine.status();
    process.kill(pidOf(log), 'SIGSTOP');
    await expect(collect(engine, request())).rejects.toThrow(/did not answer for 2000 ms/);
    expect(await collect(engine, request())).toHaveLength(1);
    expect(engine.status()).toMatchObject({ restarts: restarts + 1 });
    expect(engine.status().lastFailure).toMatch(/did not answer for 2000 ms/);
  });

  test('whose files are gone meanwhile, errors to clients do not name the server’s directories; the log does', async () => {
    const doomed = await writeTinyModel();
    const [doomedLog, timings] = [createRecordingLog(), { ...INFERENCE_TIMINGS, readyMs: 2_000 }];
    const options = { modelDirectory: doomed.directory, threads: 1, limits: TEST_LIMITS, timings, log: doomedLog };
    const lost = await openInferenceEngine(options);
    try {
      await doomed.remove();
      process.kill(pidOf(doomedLog), 'SIGKILL');
      await expect.poll(() => lost.status().lastFailure, { timeout: 20_000 }).toMatch(/could not be restarted/);
      expect(lost.status().lastFailure).not.toContain(doomed.directory);
      const refused = await collect(lost, request()).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'engine_unavailable' });
      expect((refused as Error).message).not.toContain(doomed.directory);
      expect(doomedLog.lines.some(({ fields }) => String(fields?.['err']).includes(doomed.directory))).toBe(true);
    } finally {
      await lost.close();
    }
  });

  test('files that are no model are refused when the engine opens, and no process stays', async () => {
    const started = openInferenceEngine({
      modelDirectory: '/nonexistent/model',
      threads: 1,
      limits: TEST_LIMITS,
      log: silentLog,
    });
    await expect(started).rejects.toMatchObject({ code: 'bad_model_files' });
  });

  test('children end when their parent is killed', async () => {
    const script = fileURLToPath(new URL('./engine-parent.ts', import.meta.url));
    const parent = spawn(process.execPath, [...FROM_SOURCE, script, model.directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(String(line));
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
