// Entry point of an engine's child process. The one argument names the engine, a variable has a trainer's niceness; everything else comes
// through the channel.
import { getPriority, setPriority } from 'node:os';
import { lowerPriority } from '#base/lower-priority';
import type { Port, ToClient, ToServer } from '../rpc/rpc-messages.ts';
import { serveInference } from '../rpc/serve-inference.ts';
import { serveTraining } from '../rpc/serve-training.ts';
import { openOnnxTrainingEngine } from './learning/onnx-training-engine.ts';
import { connectToParent } from './process/child-process-port.ts';
import { TRAINER_NICE_VARIABLE, type WorkerRole } from './process/fork-worker.ts';
import { openOnnxInferenceEngine } from './serving/onnx-inference-engine.ts';
import type { InferenceStart, TrainingStart } from './start-options.ts';

type ParentPort = Port<ToClient, ToServer>;

const SERVERS = { inference, training } satisfies Record<WorkerRole, unknown>;

SERVERS[process.argv[2] as WorkerRole](connectToParent());

/** Set before ONNX Runtime creates its threads: on Linux a priority belongs to a thread, and new threads inherit it. */
function inference(port: ParentPort): void {
  lowerPriority();
  serveInference<InferenceStart>(port, (start, log) => openOnnxInferenceEngine({ ...start, log }));
}

/** Never above the priority that the server was started with, which only root may raise. */
function training(port: ParentPort): void {
  setPriority(Math.max(getPriority(), Number(process.env[TRAINER_NICE_VARIABLE])));
  serveTraining<TrainingStart>(port, (start, log) => openOnnxTrainingEngine({ ...start, log }));
}
