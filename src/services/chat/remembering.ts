// Keeps what a trainable model sampled, for training: clients may lose the token ids. Decides what of an answer is kept; how it is found
// again is in sampled-tokens.ts.
import type { GenerateRequest } from '#engine/inference-engine';
import type { SampledModel } from '../models/models.ts';
import type { ChatContext } from './answer.ts';
import { heldFor, wordsOf } from './capture.ts';
import type { CollectedChoice } from './collected-choice.ts';
import type { SampledTokens } from './sampled-tokens.ts';

interface Sampled {
  readonly generate: GenerateRequest;
  /** Digest of all messages before the answer (conversation-digest.ts). */
  readonly conversation: string;
  readonly reshapedBy: readonly string[];
}

/** Called with each choice. Null: the answer is not from a trainable model, or is not kept. */
export function remembering(
  memory: SampledTokens,
  { caller, isBackground, answerId }: ChatContext,
  { modelId, base, step: policyStep }: SampledModel,
  { generate, conversation, reshapedBy }: Sampled,
): ((said: CollectedChoice, choiceIndex: number) => void) | null {
  if (modelId === null || isBackground) return null;
  const asked = { entity: caller.entity, baseModel: base.id, modelId, conversation };
  return (said, index) => {
    const sampling = {
      promptTokens: generate.promptTokens,
      tokenIds: Array.from(said.tokens.ids),
      logprobs: Array.from(said.tokens.logprobs),
      isConstrained: heldFor(said, generate.constraint),
      reshapedBy,
      policyStep,
    };
    memory.remember(asked, wordsOf(said), sampling, answerId === undefined ? null : { id: answerId, index });
  };
}
