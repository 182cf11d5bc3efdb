// The only place that knows which engines exist.
export { machineMemory } from './onnx/machine-memory.ts';
export { limitsOf, planMemory, type MemoryPlan, type MemoryWishes, type PlannedModel } from './onnx/memory-plan.ts';
import type { Backend, BackendModel, BackendOptions } from './backend.ts';
import { openOnnxBackend } from './onnx/onnx-backend.ts';
import type { OpenWorkers } from './workers/workers.ts';
import { openWorkersBackend } from './workers/workers-backend.ts';

/** Resolves when the model is loaded; with `workers`, when they are welcome. Codes: `bad_model_files`, `engine_unavailable`. */
export const openBackend = (
  model: BackendModel,
  options: BackendOptions,
  workers: OpenWorkers | null,
): Promise<Backend> => (workers ? openWorkersBackend(model, options, workers) : openOnnxBackend(model, options));
