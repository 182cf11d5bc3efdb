import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import type { InferenceEngine } from '#engine/inference-engine';
import { INFERENCE_TIMINGS, openInferenceEngine } from '#engine/onnx/open-engines';
import {
  bitsOf,
  collect,
  inferenceEngineContract,
  request,
  sampling,
  TEST_LIMITS,
} from '../contract/inference-engine.ts';
import { createRecordingLog, pidOf } from './recording-log.ts';
import { writeTinyModel, type TinyModel } from './tiny-model.ts';

inferenceEngineContract('the embedded engine in a child process', ({ directory }, limits) =>
  openInferenceEngine({ modelDirectory: directory, threads: 2, limits, log: silentLog }),
);

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

  test('a request that has not streamed yet runs on the next process, with the same answer', async () => {
    const adapter = await model.writeAdapter('survivor', { seed: 5 });
    const asked = request({ adapter, n: 2, sampling: sampling({ maxTokens: 30 }) });
    const undisturbed = await collect(engine, asked);
    process.kill(pidOf(log), 'SIGSTOP'); // it cannot answer before it is killed
    const retried = collect(engine, asked);
    process.kill(pidOf(log), 'SIGKILL');
    expect((await retried).map(bitsOf)).toEqual(undisturbed.map(bitsOf));
  });

  test('a child that hangs is killed and replaced', async () => {
    const { restarts } = engine.status();
    process.kill(pidOf(log), 'SIGSTOP');
    expect(await collect(engine, request())).toHaveLength(1);
    expect(engine.status()).toMatchObject({ restarts: restarts + 1 });
    expect(engine.status().lastFailure).toMatch(/did not answer for 2000 ms/);
  });

  test('files that are no model are refused when the engine opens, and no process stays', async () => {
    const started = openInferenceEngine({ modelDirectory: '/nonexistent/model', threads: 1, log: silentLog });
    await expect(started).rejects.toMatchObject({ code: 'bad_model_files' });
  });

  test('children end when their parent is killed', async () => {
    const script = fileURLToPath(new URL('./engine-parent.ts', import.meta.url));
    const parent = spawn(process.execPath, [...process.execArgv, script, model.directory], {
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
