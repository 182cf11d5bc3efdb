// The engine without a model in a child process of the caller, opened as an embedded one is.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { silentLog } from '../../src/base/log.ts';
import type { InferenceEngine } from '../../src/engine/inference-engine.ts';
import { INFERENCE_TIMINGS } from '../../src/engine/onnx/open-engines.ts';
import { openSupervisedChild } from '../../src/engine/onnx/process/supervised-child.ts';
import {
  NOTHING_REPORTED,
  type InferenceProcedures,
  type InferenceReady,
} from '../../src/engine/rpc/inference-procedures.ts';
import { createRemoteInferenceEngine } from '../../src/engine/rpc/remote-inference-engine.ts';

const ENTRY = fileURLToPath(new URL('engine.ts', import.meta.url));

export async function openSteppingEngine(stepMs: number): Promise<{ engine: InferenceEngine; pid: number }> {
  const child = await openSupervisedChild<InferenceProcedures, { stepMs: number }, InferenceReady>({
    name: 'stepping',
    fork: () => fork(ENTRY, { serialization: 'advanced', stdio: ['ignore', 2, 2, 'ipc'] }),
    start: { stepMs },
    timings: INFERENCE_TIMINGS,
    log: silentLog,
  });
  const { ready } = await child.whenReady();
  const engine = createRemoteInferenceEngine(child, { ready, choicesMax: 1_024, reported: () => NOTHING_REPORTED });
  return { engine, pid: child.status().pid! };
}
