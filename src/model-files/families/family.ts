// A family of models: what Hugging Face calls a model_type.
import type { Block, Experts, Sizes } from '../block.ts';
import type { ConfigJson, ConfigReader } from '../config-json.ts';

export interface Family {
  readonly modelType: string;
  /** The default of Transformers if config.json has no value. */
  readonly defaults: ConfigJson;
  /** Throws `bad_model_files` for unsupported options. */
  block(config: ConfigReader, sizes: Sizes): Block;
  /** Absent if the family has no experts. */
  experts?(config: ConfigReader, sizes: Sizes): Experts;
}
