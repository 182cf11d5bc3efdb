// Turns an answer into a call of an episode: its tokens as they were sampled, and what was asked and said. Shared by all endpoints that
// generate; which episode it is, and storing it, is services/episodes/recorder.ts.
import { PLAIN_SAMPLING } from '#domain/sampling';
import type { GenerateRequest, TokenConstraint } from '#engine/inference-engine';
import type { CallContent } from '../episodes/call-content.ts';
import type { Recorder, SampledChoice } from '../episodes/recorder.ts';
import type { SampledModel } from '../models/models.ts';
import type { Capture, ChatContext } from './answer.ts';
import type { ChatRequest, GenerationOptions } from './chat-request.ts';
import { reshapingFields } from './check-capabilities.ts';
import type { CollectedChoice } from './collected-choice.ts';
import type { Words } from './sampled-tokens.ts';

/** What a request asked, apart from its tokens. */
export type AskedWords = Partial<Pick<ChatRequest, 'messages' | 'tools' | 'prompt'>>;

/** A prompt of text or tokens. */
export const PLAIN_PROMPT: AskedWords = {};

export interface Captured {
  readonly generate: GenerateRequest;
  readonly beamSearch: GenerationOptions['beamSearch'];
  readonly asked: AskedWords;
}

/**
 * Null: the request names no episode. Otherwise for each generation of the request, what stores it. Throws what would refuse the call,
 * before anything is generated.
 */
export async function beginCapture(
  recorder: Recorder,
  { caller, episode }: Pick<ChatContext, 'caller' | 'episode'>,
  model: SampledModel,
  prompts: readonly Pick<GenerateRequest, 'promptTokens'>[],
): Promise<((captured: Captured) => Capture) | null> {
  if (episode === undefined) return null;
  const longest = prompts.reduce((most, { promptTokens }) => Math.max(most, promptTokens.length), 0);
  const recording = await recorder.begin(caller, episode, model, longest);
  return ({ generate, beamSearch, asked }) =>
    (said, isCut) =>
      recording.record({
        promptTokens: generate.promptTokens,
        choices: said.map((choice) => choiceOf(choice, generate.constraint)),
        reshapedBy: reshapedByOf(generate, beamSearch),
        isCut,
        content: { ...contentOf(asked, generate), answers: said.map(answerOf) },
      });
}

/** Request fields that made the sampling distribution differ from the model's own. */
export const reshapedByOf = (
  { sampling }: Pick<GenerateRequest, 'sampling'>,
  beamSearch: GenerationOptions['beamSearch'],
): readonly string[] => (beamSearch ? ['use_beam_search'] : reshapingFields(sampling));

/** Whether any of the tokens was sampled under the constraint, which may apply only after the reasoning. */
export function heldFor({ tokens }: CollectedChoice, constraint: TokenConstraint | null): boolean {
  if (constraint === null) return false;
  const { afterTokenId } = constraint;
  return afterTokenId === null || tokens.ids.subarray(0, -1).includes(afterTokenId);
}

export const wordsOf = ({ content, calls }: CollectedChoice): Words => ({
  content,
  calls: calls.map(({ name, arguments: text }) => ({ name, arguments: text })),
});

const choiceOf = (choice: CollectedChoice, constraint: TokenConstraint | null): SampledChoice => ({
  tokenIds: choice.tokens.ids.slice(),
  logprobs: Float32Array.from(choice.tokens.logprobs),
  finishReason: choice.finish?.reason ?? null,
  isConstrained: heldFor(choice, constraint),
});

const answerOf = (choice: CollectedChoice) => ({ ...wordsOf(choice), reasoning: choice.reasoning });

const contentOf = (
  { messages = null, tools = null, prompt = null }: { [K in keyof AskedWords]: AskedWords[K] | null },
  { sampling }: GenerateRequest,
): Omit<CallContent, 'answers'> => ({
  messages,
  tools,
  sampling: Object.fromEntries(
    Object.entries(sampling).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(PLAIN_SAMPLING[name as keyof typeof PLAIN_SAMPLING]),
    ),
  ),
  template: prompt === null ? {} : Object.fromEntries(Object.entries(prompt).filter(([, value]) => !isEmpty(value))),
});

const isEmpty = (value: unknown): boolean =>
  value === null || value === false || (typeof value === 'object' && Object.keys(value).length === 0);
