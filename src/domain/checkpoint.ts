// One step of a model: an adapter that can be served, listed and trained further. Step 0 is made at registration.

export interface Checkpoint {
  readonly id: string; // uuid
  readonly modelId: string;
  readonly step: number;
  /** `train/reward`, `val/accuracy`, … */
  readonly metrics: Readonly<Record<string, number>>;
  /** Blob prefix that holds adapter_config.json, adapter_model.safetensors and, to resume, optimizer.safetensors. */
  readonly blobPrefix: string;
  /** The adapter changes nothing: the base model answers for it. */
  readonly fresh: boolean;
  readonly createdAtMs: number;
}
