// A request with texts or token ids, in the format of OpenAI's older API and vLLM → CompletionRequest, and the format of the answer.
// Rules across fields are checked first, as in chat-request.ts.
import { counted } from '#base/counted';
import { z } from 'zod';
import { isObject } from '#base/is-object';
import type { CompletionRequest } from '#services/chat/chat-request';
import { COMPLETION_DECISIONS } from './chat-decisions.ts';
import { refuseForbiddenOfCompletions } from './chat-rules.ts';
import { applyDecisions } from './field-decisions.ts';
import {
  formFields,
  MAX_CHOICES,
  modelField,
  promptTokens,
  samplingFields,
  servingFields,
  showingFields,
  stoppingFields,
  truncationFields,
} from './generation-fields.ts';
import { answerFormat, listedIds, samplingOptions, servingOptions, type AnswerFormat } from './generation-options.ts';
import { shapeWarnings } from './nested-fields.ts';
import { boolean, integer, list, union } from '#validation/lax';
import { parse, refuse } from '#validation/parse';

export interface CompletionFormat extends AnswerFormat {
  /** Alternatives per token; null: no log-probabilities. */
  readonly logprobs: number | null;
  readonly echo: boolean;
  /** Only the prompt is returned: OpenAI's way to score a text. */
  readonly promptOnly: boolean;
  readonly promptLogprobs: boolean;
  readonly skipSpecialTokens: boolean;
  readonly warnings: readonly string[];
}

const MAX_TOKENS_DEFAULT = 16; // OpenAI's default

export const completionRequestSchema = z
  .looseObject({
    model: modelField,
    prompt: union({
      str: z.string(),
      'list[str]': list(z.string(), MAX_CHOICES),
      'list[int]': promptTokens(),
      'list[list[int]]': list(promptTokens(), MAX_CHOICES),
    }).describe('A text, token ids, or a list of either, with one answer for each.'),
    suffix: z.string().nullish().describe('Refused: insertion is not supported.'),

    ...samplingFields,
    best_of: integer({ ge: 1, le: MAX_CHOICES })
      .nullish()
      .describe(
        'Sample this many completions and return the n with the highest mean log-probability per token. Not with stream. Default: n.',
      ),

    ...stoppingFields,
    max_tokens: integer({ ge: 0 })
      .nullish()
      .describe('Maximum number of tokens in an answer; 0 only with echo. Default: 16.'),

    ...showingFields,
    logprobs: integer({ ge: -1 })
      .nullish()
      .describe(
        'Return log-probabilities with this many alternatives per token; with echo, also those of the prompt. -1: the whole vocabulary.',
      ),
    echo: boolean().nullish().describe('Start the answer with the prompt.'),

    ...truncationFields,
    add_special_tokens: boolean()
      .nullish()
      .describe('Add special tokens of the tokenizer (such as BOS). Default: true.'),

    ...formFields,
    ...servingFields,
  })
  .meta({ title: 'CompletionRequest' });

type Wire = z.output<typeof completionRequestSchema>;

export function parseCompletionRequest(body: unknown): { request: CompletionRequest; format: CompletionFormat } {
  if (isObject(body)) refuseForbiddenOfCompletions(body);
  const wire = parse(completionRequestSchema, body, 'body');
  const warnings = [...applyDecisions(completionRequestSchema, COMPLETION_DECISIONS, wire), ...shapeWarnings(wire)];
  const request = toRequest(wire);
  refuseWhatCannotBe(wire, request);
  return {
    request,
    format: {
      ...answerFormat(wire),
      logprobs: wire.logprobs ?? null,
      echo: wire.echo ?? false,
      promptOnly: request.promptOnly,
      promptLogprobs: (wire.prompt_logprobs ?? null) !== null,
      skipSpecialTokens: request.output.skipSpecialTokens,
      warnings,
    },
  };
}

function toRequest(wire: Wire): CompletionRequest {
  const serving = servingOptions(wire);
  const echoed = wire.echo === true ? (wire.logprobs ?? null) : null;
  return {
    ...serving,
    prompts: promptsOf(wire.prompt),
    promptName: 'prompt',
    thinking: null,
    addSpecialTokens: wire.add_special_tokens ?? true,
    truncation: {
      truncatePromptTokens: wire.truncate_prompt_tokens ?? null,
      truncationSide: wire.truncation_side ?? 'left',
    },
    // An engine samples at least one token; if the client asked for none, it is not returned.
    sampling: samplingOptions(wire, {
      maxTokens: wire.max_tokens === 0 ? 1 : (wire.max_tokens ?? MAX_TOKENS_DEFAULT),
      maxTokensField: 'max_tokens',
    }),
    output: {
      logprobs: (wire.logprobs ?? null) !== null,
      topLogprobs: wire.logprobs ?? 0,
      topLogprobsField: 'logprobs',
      logprobTokenIds: listedIds(wire),
      promptLogprobs: wire.prompt_logprobs ?? echoed,
      echo: wire.echo ?? false,
      includeStop: wire.include_stop_str_in_output ?? false,
      skipSpecialTokens: wire.skip_special_tokens ?? true,
      includeReasoning: true,
    },
    promptOnly: wire.max_tokens === 0,
    bestOf: wire.best_of ?? serving.n,
  };
}

function promptsOf(prompt: Wire['prompt']): CompletionRequest['prompts'] {
  if (typeof prompt === 'string') return [prompt];
  const isTokens = typeof prompt[0] === 'number';
  return isTokens ? [prompt as number[]] : (prompt as (string | number[])[]);
}

function refuseWhatCannotBe(wire: Wire, { n, bestOf, prompts, beamSearch }: CompletionRequest): void {
  if (wire.suffix)
    refuse(
      ['body', 'suffix'],
      'Insertion is not supported: the models here only continue a text. Leave suffix out.',
      wire.suffix,
    );
  if ((wire.thinking_token_budget ?? -1) !== -1)
    refuse(
      ['body', 'thinking_token_budget'],
      'Completions do not separate reasoning from the answer. Send messages to /v1/chat/completions instead.',
      wire.thinking_token_budget,
    );
  if (wire.max_tokens === 0 && listedIds(wire))
    refuse(
      ['body', 'logprob_token_ids'],
      '`logprob_token_ids` is not supported when no output tokens are generated: max_tokens is 0.',
      wire.logprob_token_ids,
    );
  if (prompts.length === 0) refuse(['body', 'prompt'], 'Send at least one prompt.', wire.prompt);
  if (wire.max_tokens === 0 && wire.echo !== true)
    refuse(['body', 'max_tokens'], 'max_tokens may be 0 only with echo, which returns the prompt.', 0);
  if (bestOf < n) refuse(['body', 'best_of'], `best_of ${bestOf} is less than n, which is ${n}.`, bestOf);
  if (bestOf > n && wire.stream === true)
    refuse(
      ['body', 'best_of'],
      'best_of cannot be streamed: the best choices are known only when all have ended.',
      bestOf,
    );
  if (bestOf > n && beamSearch)
    refuse(
      ['body', 'best_of'],
      'best_of has no effect on beam search, which returns the best beams. Send only n.',
      bestOf,
    );
  if (prompts.length * bestOf > MAX_CHOICES) {
    const what = `${counted(prompts.length, 'prompt')} of ${counted(bestOf, 'choice')} are more than the ${MAX_CHOICES} that one request may have.`;
    refuse(['body', 'prompt'], what, prompts.length);
  }
}
