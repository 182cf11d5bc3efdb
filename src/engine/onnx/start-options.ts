// The options that an engine's child process gets when it starts: the engine's options without those that cannot leave a process.
import type { OnnxTrainingEngineOptions } from './learning/onnx-training-engine.ts';
import type { OnnxInferenceOptions } from './serving/onnx-inference-engine.ts';

export type InferenceStart = Omit<OnnxInferenceOptions, 'log'>;
export type TrainingStart = Omit<OnnxTrainingEngineOptions, 'log' | 'graphIdleMs'>;
