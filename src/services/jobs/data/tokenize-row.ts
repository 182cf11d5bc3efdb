// The sequences that a job trains for a row of either kind, for those who show rows instead of training them.
import type { PreferencePair } from '#domain/dpo';
import type { SftRow } from '#domain/sft';
import type { ConversationEncoder } from '#training/conversation-encoder';
import { tokenizePair } from '#training/dpo-rows';
import { tokenizeSftRow, type RowSequences } from '#training/sft-rows';

/** Throws `invalid_request` if the chat template refuses the row. */
export const tokenizeRow = (
  row: SftRow | PreferencePair,
  encoder: ConversationEncoder,
  assistantTurns: 'all' | 'last',
): Promise<RowSequences> =>
  'chosen' in row ? tokenizePair(row, encoder) : tokenizeSftRow(row, encoder, assistantTurns);
