// The sequences that a job trains for a row of either kind, for those who show rows instead of training them.
import type { PreferencePair } from '#domain/dpo';
import type { SftRow } from '#domain/sft';
import type { ConversationEncoder } from '#training/conversation-encoder';
import { tokenizePair } from '#training/dpo-rows';
import { tokenizeSftRow, type RowSequences } from '#training/sft-rows';

export interface RowsShown {
  readonly assistantTurns: 'all' | 'last';
  /** Rows with a longer sequence are not trained: the model's context. */
  readonly lengthMax: number;
}

/** No sequences: a job would skip the row. Throws `invalid_request` if the chat template refuses it. */
export async function tokenizeRow(
  row: SftRow | PreferencePair,
  encoder: ConversationEncoder,
  { assistantTurns, lengthMax }: RowsShown,
): Promise<RowSequences> {
  const limits = { lengthMax, count: () => undefined };
  const read = await ('chosen' in row
    ? tokenizePair(row, encoder, limits)
    : tokenizeSftRow(row, encoder, assistantTurns, limits));
  return read.problem === null ? read : { ...read, sequences: [] };
}
