// What the server process can ask of the inference child.
import type { Constraint } from '#domain/constraint';
import type { AdapterRef, GenerateRequest, InferenceEngineStatus, TokenEvent } from '../../inference-engine.ts';
import type { ServingPrecision } from '../models/serving-graph.ts';
import type { InferenceLimits } from '../serving/inference-limits.ts';
import type { EngineVocabulary } from '../serving/onnx-inference-engine.ts';

export interface InferenceStart {
  readonly modelDirectory: string;
  readonly threads: number;
  readonly precision: ServingPrecision;
  readonly limits: InferenceLimits;
  readonly vocabulary: EngineVocabulary | null;
}

export interface InferenceReady {
  readonly contextLength: number;
  readonly vocabSize: number;
}

export interface InferenceProcedures {
  /** Told: the index of a choice to cancel. */
  generate: { params: GenerateRequest; result: null; event: TokenEvent; told: number };
  prepare: { params: Constraint; result: null };
  loadAdapter: { params: AdapterRef; result: null };
  unloadAdapter: { params: string; result: null };
}

/** Sent whenever it has changed. */
export const STATUS_NOTICE = 'status';
export type InferenceChildStatus = Pick<InferenceEngineStatus, 'running' | 'waiting' | 'adapters'>;
