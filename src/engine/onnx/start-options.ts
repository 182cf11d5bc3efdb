// What an engine's child process gets when it starts: all that its engine is, but for what stays in that process.
import type { OnnxTrainingEngineOptions } from './learning/onnx-training-engine.ts';
import type { OnnxInferenceOptions } from './serving/onnx-inference-engine.ts';

export type InferenceStart = Omit<OnnxInferenceOptions, 'log'>;
export type TrainingStart = Omit<OnnxTrainingEngineOptions, 'log' | 'graphIdleMs'>;
