// Direct preference optimisation (arXiv:2305.18290): pairs of answers to one prompt, of which one is preferred. Their wire form is
// read in api/schema/dpo.ts.
import type { ChatMessage, ToolDefinition } from './chat.ts';
import type { BatchConfigInput, DatasetVersion } from './sft.ts';

/** One line of training data; both answers end with an assistant's message, and differ. */
export interface PreferencePair {
  readonly prompt: readonly ChatMessage[];
  readonly chosen: readonly ChatMessage[];
  readonly rejected: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[] | null;
}

/** A line that was read, or why it could not be. */
export type ReadPreferencePair = { readonly row: PreferencePair } | { readonly problem: string };

export const PREFERENCE_LOSSES = ['sigmoid', 'robust', 'hinge', 'ipo'] as const;
export type PreferenceLossType = (typeof PREFERENCE_LOSSES)[number];

/** The known fields of `config` that were sent and not null. A row is a pair. */
export interface DpoConfigInput extends BatchConfigInput {
  readonly beta?: number;
  readonly lossType?: PreferenceLossType;
  readonly labelSmoothing?: number;
}

/** What a DPO job's body blob holds, as JSON. */
export interface DpoJobBody {
  readonly dataset: DatasetVersion;
  readonly config: DpoConfigInput;
  /** What of the request is not used; the first event says it. */
  readonly warnings?: readonly string[];
}
