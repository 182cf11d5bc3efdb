// The only file that knows which engines exist, and which memory plan the server follows.
import type { Backend, BackendModel, BackendOptions } from './backend.ts';
import { limitsOf, machineMemory, openOnnxBackend, planMemory } from './onnx/onnx-backend.ts';
import type { OpenWorkers } from './workers/workers.ts';
import { openWorkersBackend } from './workers/workers-backend.ts';

/** For engines that run on this machine. */
export { limitsOf, machineMemory, planMemory };
export type MemoryPlan = ReturnType<typeof planMemory>;
export type PlannedModel = Parameters<typeof planMemory>[0][number];
export type MemoryWishes = Parameters<typeof planMemory>[1];

/** Resolves when the model is loaded; with `workers`, when workers may connect. Codes: `bad_model_files`, `engine_unavailable`. */
export const openBackend = (
  model: BackendModel,
  options: BackendOptions,
  workers: OpenWorkers | null,
): Promise<Backend> => (workers ? openWorkersBackend(model, options, workers) : openOnnxBackend(model, options));
