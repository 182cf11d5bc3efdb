// A DPO plan of pairs in memory.
import type { DpoConfigInput, PreferencePair } from '#domain/dpo';
import { resolveDpoConfig } from '#training/dpo-config';
import type { DpoPlan } from '#training/dpo-job';
import { encodePairs } from '#training/dpo-rows';
import type { RowBudget } from '#training/row-budget';
import type { ConversationEncoder } from '#training/conversation-encoder';
import { planEncoded } from './planned-sft.ts';

export function planPairs(
  pairs: Iterable<PreferencePair>,
  config: DpoConfigInput,
  { encoder, budget }: { encoder: ConversationEncoder; budget: RowBudget },
): Promise<DpoPlan> {
  const lengthMax = Math.min(budget.contextLength, budget.rowLengthMax);
  const encode = (write: (bytes: Uint8Array) => Promise<void>) => encodePairs(pairs, { lengthMax }, encoder, write);
  return planEncoded(encode, resolveDpoConfig(config, null), budget);
}
