// The procedures of a remote sampler: the methods of InferenceEngine, and its status, which it sends itself.
import type { Constraint } from '#domain/constraint';
import type { AdapterRef, GenerateRequest, InferenceEngineStatus, TokenEvent } from '../inference-engine.ts';

export interface InferenceReady {
  readonly contextLength: number;
  readonly vocabSize: number;
}

export interface InferenceProcedures {
  generate: { params: GenerateRequest; result: null; event: TokenEvent; control: GenerationControl };
  prepare: { params: { constraint: Constraint; payer: string }; result: null };
  loadAdapter: { params: AdapterRef; result: null };
  unloadAdapter: { params: string; result: null };
}

/** The index of a choice to cancel, or whether the events are being read. */
export type GenerationControl = number | { readonly isUnread: boolean };

/** Sent after every change. */
export const STATUS_NOTICE = 'status';
export type ReportedStatus = Pick<InferenceEngineStatus, 'running' | 'waiting' | 'adapters'>;

export const NOTHING_REPORTED: ReportedStatus = { running: 0, waiting: 0, adapters: [] };
