// Refuses, by the field's name, what a request asks for and the model's engine does not declare: nothing that a client sends is ignored
// in silence.
import { AppError } from '#domain/errors';
import { PLAIN_SAMPLING, type SamplingParams } from '#domain/sampling';
import { SAMPLING_SWITCHES, type EngineCapabilities, type SamplingSwitch } from '#engine/capabilities';
import type { RequestedConstraint } from './chat-request.ts';

/** Engine capabilities by the names of request fields. */
const FIELDS: Readonly<Record<SamplingSwitch, string>> = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  minP: 'min_p',
  repetitionPenalty: 'repetition_penalty',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  logitBias: 'logit_bias',
  allowedTokenIds: 'allowed_token_ids',
  badWords: 'bad_words',
  minTokens: 'min_tokens',
  topLogprobs: 'top_logprobs',
  logprobTokenIds: 'logprob_token_ids',
  thinkingBudget: 'thinking_token_budget',
};

const isOn = (sampling: SamplingParams, name: SamplingSwitch): boolean =>
  JSON.stringify(sampling[name]) !== JSON.stringify(PLAIN_SAMPLING[name]);

/** Options that only list more about a token do not change which token is sampled. */
const LISTED: readonly SamplingSwitch[] = ['topLogprobs', 'logprobTokenIds'];

/** Fields that make the sampling distribution differ from the model's own, to which reported log-probabilities refer. */
export const reshapingFields = (sampling: SamplingParams): readonly string[] =>
  SAMPLING_SWITCHES.filter((name) => !LISTED.includes(name) && isOn(sampling, name)).map((name) => FIELDS[name]);

/** Throws `invalid_request`. */
export function checkSampling(sampling: SamplingParams, capabilities: EngineCapabilities): void {
  const missing = capabilities.unsupportedSampling.find((name) => isOn(sampling, name));
  if (missing !== undefined)
    throw unsupported(
      FIELDS[missing],
      "Leave it out; if the model's defaults set it, send the value that switches it off.",
    );
  if (sampling.promptLogprobs !== null && !capabilities.promptLogprobs)
    throw unsupported('prompt_logprobs', 'Leave it out.');
}

/** Throws `invalid_request`. */
export function checkConstraint({ constraint, param }: RequestedConstraint, { constraints }: EngineCapabilities): void {
  if (constraints.includes(constraint.kind)) return;
  const kinds = constraints.length === 0 ? 'none' : constraints.join(', ');
  throw unsupported(param, `It would need a constraint of the kind ${constraint.kind}; supported here: ${kinds}.`);
}

/** Throws `invalid_request`. */
export function checkEmbeddings({ embeddings }: EngineCapabilities): void {
  if (embeddings) return;
  const message =
    'The engine of this model does not support embeddings: it returns tokens only. Use a model that runs in the server itself.';
  throw new AppError('invalid_request', message, { param: 'model' });
}

const unsupported = (param: string, advice: string): AppError =>
  new AppError('invalid_request', `${param} is not supported by the engine of this model. ${advice}`, { param });
