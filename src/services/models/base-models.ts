// The base models that this server hosts: their ids, and the engines that serve each. Filled once at the start.
import { AppError } from '#domain/errors';
import type { EngineCapabilities } from '#engine/capabilities';
import type { InferenceEngine } from '#engine/inference-engine';
import type { LoraConfig } from '#domain/lora-config';
import type { TextModel } from '#text/text-model';

export interface BaseModel {
  /** The clients' name for it: a Hub id, or the name of a directory. */
  readonly id: string;
  readonly createdAtMs: number;
  readonly text: TextModel;
  /** Absent: unknown. */
  readonly hiddenSize?: number;
  readonly inference: InferenceEngine;
  readonly capabilities: EngineCapabilities;
  /** Writes a LoRA adapter that changes nothing yet (B = 0), as a PEFT directory: step 0 of every model. */
  writeFreshAdapter(directory: string, lora?: LoraConfig): Promise<void>;
  /** Checks that a PEFT directory is an adapter of this model with finite values. Throws `bad_model_files`. */
  checkAdapter(directory: string): Promise<void>;
}

export interface BaseModels {
  list(): readonly BaseModel[];
  find(id: string): BaseModel | null;
  /** Throws `base_model_not_found`. */
  get(id: string): BaseModel;
  /** Used for requests that name no model: the first hosted one. */
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
