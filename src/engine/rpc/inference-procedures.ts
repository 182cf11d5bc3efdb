// What can be asked of a sampler somewhere else: an InferenceEngine's methods, and its status, which it reports itself.
import type { Constraint } from '#domain/constraint';
import type { AdapterRef, GenerateRequest, InferenceEngineStatus, TokenEvent } from '../inference-engine.ts';

export interface InferenceReady {
  readonly contextLength: number;
  readonly vocabSize: number;
}

export interface InferenceProcedures {
  generate: { params: GenerateRequest; result: null; event: TokenEvent; told: ToldGeneration };
  prepare: { params: { constraint: Constraint; payer: string }; result: null };
  loadAdapter: { params: AdapterRef; result: null };
  unloadAdapter: { params: string; result: null };
}

/** The index of a choice to cancel; or whether anybody reads the events. */
export type ToldGeneration = number | { readonly isUnread: boolean };

/** Sent whenever it has changed. */
export const STATUS_NOTICE = 'status';
export type ReportedStatus = Pick<InferenceEngineStatus, 'running' | 'waiting' | 'adapters'>;

export const NOTHING_REPORTED: ReportedStatus = { running: 0, waiting: 0, adapters: [] };
