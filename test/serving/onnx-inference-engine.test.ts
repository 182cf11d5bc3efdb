import { silentLog } from '#base/log';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { inferenceEngineContract } from '../contract/inference-engine.ts';

inferenceEngineContract('the embedded engine in this process', ({ directory }, limits) =>
  openOnnxInferenceEngine({ modelDirectory: directory, threads: 2, limits, log: silentLog }),
);
