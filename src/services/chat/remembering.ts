// Keeps what a trainable model sampled, for training: clients may lose the token ids. Decides what of an answer is kept; how it is found
// again is in sampled-tokens.ts.
import type { GenerateRequest, TokenConstraint } from '#engine/inference-engine';
import type { SampledModel } from '../models/models.ts';
import type { ChatContext, SaidToken } from './answer.ts';
import type { SampledTokens, Words } from './sampled-tokens.ts';

interface Sampled {
  readonly generate: GenerateRequest;
  /** Digest of all messages before the answer (conversation-digest.ts). */
  readonly conversation: string;
  readonly reshapedBy: readonly string[];
}

/** Called with the tokens of each choice. Null: the answer is not from a trainable model, or is not kept. */
export function remembering(
  memory: SampledTokens,
  { caller, isBackground, answerId }: ChatContext,
  { modelId, base }: SampledModel,
  { generate, conversation, reshapedBy }: Sampled,
): ((said: readonly SaidToken[], choiceIndex: number) => void) | null {
  if (modelId === null || isBackground) return null;
  const asked = { entity: caller.entity, baseModel: base.id, modelId, conversation };
  return (said, index) => {
    const sampling = {
      promptTokens: generate.promptTokens,
      tokenIds: said.map(({ token }) => token.tokenId),
      logprobs: said.map(({ token }) => token.logprob),
      isConstrained: heldFor(said, generate.constraint),
      reshapedBy,
    };
    memory.remember(asked, wordsOf(said), sampling, answerId === undefined ? null : { id: answerId, index });
  };
}

/** Whether any of the tokens was sampled under the constraint, which may apply only after the reasoning. */
function heldFor(tokens: readonly SaidToken[], constraint: TokenConstraint | null): boolean {
  if (constraint === null) return false;
  const { afterTokenId } = constraint;
  return afterTokenId === null || tokens.slice(0, -1).some(({ token }) => token.tokenId === afterTokenId);
}

function wordsOf(tokens: readonly SaidToken[]): Words {
  const calls: { name: string; arguments: string }[] = [];
  for (const { index, name, arguments: text = '' } of tokens.flatMap(({ delta }) => delta.toolCalls)) {
    calls[index] ??= { name: name ?? '', arguments: '' };
    calls[index].arguments += text;
  }
  return { content: tokens.map(({ delta }) => delta.content).join(''), calls };
}
