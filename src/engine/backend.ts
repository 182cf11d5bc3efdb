// An engine as a server plugs it in: what samples from a base model, what trains its adapters, and what both can do. Which
// engines there are, open-backend.ts knows alone.
import type { Log } from '#base/log';
import type { LoraConfig } from '#domain/lora-config';
import type { EngineCapabilities, KVCacheDtype, ServingPrecision, TrainingPrecision } from './capabilities.ts';
import type { InferenceEngine } from './inference-engine.ts';
import type { TrainingEngine } from './training-engine.ts';

export interface Backend {
  /** Where the roles need none: one that has its sizes and refuses all else. */
  readonly inference: InferenceEngine;
  /** Null: the roles need none. */
  readonly training: TrainingEngine | null;
  readonly capabilities: EngineCapabilities;
  /** A LoRA adapter that changes nothing yet (B = 0), as a PEFT directory, into an existing, empty one. */
  writeFreshAdapter(directory: string, lora: LoraConfig): Promise<void>;
  /** Throws `bad_model_files` where it is no adapter of this model, or has values that are not finite. */
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

/** The tokens of a model as bytes, for constraints on answers. */
export interface EngineVocabulary {
  /** Token i is bytes[offsets[i], offsets[i + 1]); empty: it is no part of a text. */
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  /** What a model says when its text is complete. */
  readonly eosTokenIds: readonly number[];
}

/** Of one model. Null: the engine's choice. */
export interface MemoryLimits {
  /** Prompt and completion together, at most. */
  readonly contextLengthMax: number | null;
  /** For keys and values of all sequences. */
  readonly cacheBytes: number | null;
  /** For computed prompts. */
  readonly prefixCacheBytes: number | null;
  /** For adapters, as they were loaded and in the sets of batches. */
  readonly adapterBytes: number | null;
  /** For the rows of a job, beside the weights. */
  readonly trainingMemoryBytes: number | null;
}

export interface BackendOptions extends MemoryLimits {
  readonly samples: boolean;
  readonly trains: boolean;
  readonly precision: ServingPrecision;
  readonly kvCacheDtype: KVCacheDtype;
  readonly trainingPrecision: TrainingPrecision;
  /** What nobody reads for so long gives its place up to whoever waits. */
  readonly unreadMs: number;
  /** Trainers on this machine, which may all train at once: each takes its part of what the engine chooses. */
  readonly trainers: number;
  /** Where an engine keeps what it has made of a model's weights. Null: its choice. */
  readonly weightsDirectory: string | null;
  /** Told in bytes while an engine makes that. */
  readonly onWeights: (done: number, of: number) => void;
  readonly log: Log;
}
