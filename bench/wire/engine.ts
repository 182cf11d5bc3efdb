// Entry of the child process that holds an engine without a model, behind the procedures of an embedded one.
import { connectToParent } from '../../src/engine/onnx/process/child-process-port.ts';
import { serveInference } from '../../src/engine/rpc/serve-inference.ts';
import { createSteppingEngine } from './stepping-engine.ts';

serveInference<{ stepMs: number }>(connectToParent(), async ({ stepMs }) => createSteppingEngine(stepMs));
