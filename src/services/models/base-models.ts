// The frozen models that this server hosts: which ids are known, and what serves each. Filled once by main.ts.
import { AppError } from '#domain/errors';
import type { EngineCapabilities } from '#engine/capabilities';
import type { InferenceEngine } from '#engine/inference-engine';
import type { LoraConfig } from '#domain/lora-config';
import type { TextModel } from '#text/text-model';

export interface BaseModel {
  /** As clients call it: a Hub id, or the name of a directory. */
  readonly id: string;
  readonly createdAtMs: number;
  readonly text: TextModel;
  /** Absent: not known. */
  readonly hiddenSize?: number;
  readonly inference: InferenceEngine;
  readonly capabilities: EngineCapabilities;
  /** A LoRA adapter that changes nothing yet (B = 0), as a PEFT directory: step 0 of every model. */
  writeFreshAdapter(directory: string, lora?: LoraConfig): Promise<void>;
  /** Whether a PEFT directory is an adapter of this model, with finite values. Throws `bad_model_files`. */
  checkAdapter(directory: string): Promise<void>;
}

export interface BaseModels {
  list(): readonly BaseModel[];
  find(id: string): BaseModel | null;
  /** Throws `base_model_not_found`. */
  get(id: string): BaseModel;
  /** What a request without a model gets: the one named first. */
  readonly default: BaseModel;
}

export function createBaseModels(models: readonly [BaseModel, ...BaseModel[]]): BaseModels {
  const byId = new Map(models.map((model) => [model.id, model]));
  const find = (id: string) => byId.get(id) ?? null;
  return {
    list: () => models,
    find,
    get(id) {
      const model = find(id);
      if (model) return model;
      const known = models.map((each) => `\`${each.id}\``).join(', ');
      throw new AppError(
        'base_model_not_found',
        `This server does not host a base model \`${id}\`. It hosts ${known}.`,
        {
          param: 'base_model',
        },
      );
    },
    default: models[0],
  };
}
