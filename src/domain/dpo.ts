// Direct preference optimisation (arXiv:2305.18290): pairs of answers to one prompt, one preferred over the other.
// rows/dpo.ts reads their wire form.
import type { ChatMessage, ToolDefinition } from './chat.ts';
import type { BatchConfigInput, DatasetVersion } from './sft.ts';

/** One line of training data. Both answers end with an assistant message, and they differ. */
export interface PreferencePair {
  readonly prompt: readonly ChatMessage[];
  readonly chosen: readonly ChatMessage[];
  readonly rejected: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[] | null;
}

/** A valid line, or the reason why it is invalid. */
export type ReadPreferencePair = { readonly row: PreferencePair } | { readonly problem: string };

export const PREFERENCE_LOSSES = ['sigmoid', 'robust', 'hinge', 'ipo'] as const;
export type PreferenceLossType = (typeof PREFERENCE_LOSSES)[number];

/** The known fields of `config` that the client sent with a value. A row is a pair. */
export interface DpoConfigInput extends BatchConfigInput {
  readonly beta?: number;
  readonly lossType?: PreferenceLossType;
  readonly labelSmoothing?: number;
}

/** Content of a DPO job's body blob, as JSON. */
export interface DpoJobBody {
  readonly dataset: DatasetVersion;
  readonly config: DpoConfigInput;
  /** Parts of the request that are not used; the first event names them. */
  readonly warnings?: readonly string[];
}
