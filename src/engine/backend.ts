// What an engine provides to a server: a sampler for a base model, a trainer for its adapters, and the capabilities of both.
// Only open-backend.ts knows which engines exist.
import type { Log } from '#base/log';
import type { LoraConfig } from '#domain/lora-config';
import type { EngineCapabilities, KVCacheDtype, ServingPrecision, TrainingPrecision } from './capabilities.ts';
import type { InferenceEngine } from './inference-engine.ts';
import type { TrainingEngine } from './training-engine.ts';

export interface Backend {
  /** If the roles need no sampler: an engine that knows its sizes and refuses everything else. */
  readonly inference: InferenceEngine;
  /** Null if the roles need no trainer. */
  readonly training: TrainingEngine | null;
  readonly capabilities: EngineCapabilities;
  /** Writes a LoRA adapter that changes nothing yet (B = 0) as a PEFT directory into an existing, empty directory. */
  writeFreshAdapter(directory: string, lora: LoraConfig): Promise<void>;
  /** Throws `bad_model_files` if this is not an adapter of this model, or contains values that are not finite. */
  checkAdapter(directory: string): Promise<void>;
  close(): Promise<void>;
}

/** A base model whose files are on this machine. */
export interface BackendModel {
  readonly id: string;
  /** Hugging Face layout: config.json and safetensors. */
  readonly directory: string;
  readonly vocabulary: EngineVocabulary;
}

/** A model's tokens as bytes, for constraints on answers. */
export interface EngineVocabulary {
  /** Token i is bytes[offsets[i], offsets[i + 1]); empty if the token never appears in text. */
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  /** The tokens with which a model ends its text. */
  readonly eosTokenIds: readonly number[];
}

/** Limits of one model. Null: the engine chooses. */
export interface MemoryLimits {
  /** Prompt and completion together. */
  readonly contextLengthMax: number | null;
  /** For the keys and values of all sequences. */
  readonly cacheBytes: number | null;
  /** For the cache of computed prompts. */
  readonly prefixCacheBytes: number | null;
  /** For adapters, both as loaded and combined for batches. */
  readonly adapterBytes: number | null;
  /** For the rows of a training job, in addition to the weights. */
  readonly trainingMemoryBytes: number | null;
}

/** The default of `trainerNice`. The sampler's process has 10, so that requests are answered while a job trains. */
export const TRAINER_NICE = 12;

export interface BackendOptions extends MemoryLimits {
  readonly samples: boolean;
  readonly trains: boolean;
  readonly precision: ServingPrecision;
  readonly kvCacheDtype: KVCacheDtype;
  readonly trainingPrecision: TrainingPrecision;
  /** Niceness of a trainer's process on this machine. */
  readonly trainerNice: number;
  /** A stream that is not read for this long gives its place to a waiting request. */
  readonly unreadMs: number;
  /** Trainers on this machine. All may train at once; each gets an equal part of the engine's defaults. */
  readonly trainers: number;
  /** Where an engine keeps prepared copies of a model's weights. Null: the engine chooses. */
  readonly weightsDirectory: string | null;
  /** Called with bytes done and total while an engine prepares weights. */
  readonly onWeights: (done: number, of: number) => void;
  readonly log: Log;
}
