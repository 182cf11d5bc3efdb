// Completions in the format of OpenAI's older API and vLLM: the choices of all prompts in one list, or chunks of one choice each.
import type { ChatDelta } from '#services/chat/answer';
import type { CollectedChoice } from '#services/chat/collected-choice';
import type { CompletionAnswer } from '#services/chat/completions';
import {
  countTokens,
  fingerprint,
  seconds,
  shownTokens,
  usageOf,
  weightVersions,
  wireFinishReason,
  policyStep,
} from './answer-fields.ts';
import { promptLogprobs } from './chat-logprobs.ts';
import { createLegacyLogprobs, forChunk, joinLogprobs, type LegacyLogprobsWriter } from './completion-logprobs.ts';
import type { CompletionFormat } from './completion-request.ts';
import { warned } from '#validation/unknown-fields';

/** The values that all parts of one answer share, and the answers, by prompt. */
export interface CompletionHead {
  readonly id: string;
  readonly createdAtMs: number;
  readonly answers: readonly CompletionAnswer[];
  readonly format: CompletionFormat;
}

export const completionId = (requestId: string): string => `cmpl-${requestId}`;

const headOf = ({ id, createdAtMs, answers }: CompletionHead) => ({
  id,
  object: 'text_completion' as const,
  created: seconds(createdAtMs),
  model: answers[0]!.model.servedName,
  system_fingerprint: fingerprint(answers[0]!.model),
});

/** `choices` by prompt: those that are returned. `sampledTokens`: of all choices, returned or not. Has lazy lists. */
export function textCompletion(
  head: CompletionHead,
  choices: readonly (readonly CollectedChoice[])[],
  sampledTokens: number,
) {
  const { answers, format } = head;
  const all = answers.flatMap((answer, prompt) =>
    choices[prompt]!.map((choice) => wholeChoice(answer, format, choice)),
  );
  return {
    ...headOf(head),
    choices: all.map((choice, index) => ({ index, ...choice })),
    service_tier: null,
    usage: usageOf(answers, format.promptOnly ? 0 : sampledTokens, 0),
    kv_transfer_params: null,
    ...warned(format.warnings),
  };
}

function wholeChoice(
  answer: CompletionAnswer,
  format: CompletionFormat,
  { content, tokens, tokenCount, finish }: CollectedChoice,
) {
  const writer = createLegacyLogprobs(answer, format);
  const echoed = format.echo ? writer.prompt(answer) : null;
  const isShown = !format.promptOnly;
  return {
    text: (format.echo ? answer.promptText : '') + (isShown ? content : ''),
    logprobs: joinLogprobs([echoed, writer.sampled(isShown ? tokens : [])]),
    finish_reason: format.promptOnly ? 'length' : wireFinishReason(finish),
    stop_reason: format.promptOnly ? null : (finish?.stopReason ?? null),
    ...policyStep(answer),
    ...(format.returnWeightVersions ? weightVersions(answer, isShown ? tokenCount : 0) : {}),
    token_ids: format.returnTokenIds ? (isShown ? tokens.ids : []) : null,
    prompt_token_ids: format.returnTokenIds ? answer.promptTokens : null,
    prompt_logprobs: format.promptLogprobs ? promptLogprobs(answer) : null,
  };
}

/** Creates the chunks of one choice, whose deltas arrive in order. */
export interface ChoiceChunks {
  /** The text before the first token: the echoed prompt. Empty if there is none. */
  open(): object[];
  delta(delta: ChatDelta): object[];
  readonly tokens: number;
}

export function createChoiceChunks(head: CompletionHead, answer: CompletionAnswer, index: number): ChoiceChunks {
  const { format } = head;
  const writer: LegacyLogprobsWriter = createLegacyLogprobs(answer, format);
  let tokens = 0;
  let isFirst = true;

  function chunk(text: string, more: object): object {
    const promptTokenIds = isFirst && format.returnTokenIds ? answer.promptTokens : null;
    const told = isFirst && index === 0 ? warned(format.warnings) : {};
    isFirst = false;
    return {
      ...headOf(head),
      choices: [{ index, text, logprobs: null, finish_reason: null, prompt_token_ids: promptTokenIds, ...more }],
      ...(format.continuousUsage ? { usage: usageOf([answer], tokens, 0) } : {}),
      ...told,
    };
  }

  const ended = () => ({
    ...policyStep(answer),
    ...(format.returnWeightVersions ? weightVersions(answer, tokens) : {}),
  });

  return {
    open() {
      if (!format.echo) return [];
      const ending = format.promptOnly ? { finish_reason: 'length', stop_reason: null, ...ended() } : {};
      return [chunk(answer.promptText, { logprobs: forChunk(writer.prompt(answer)), ...ending })];
    },
    delta(delta) {
      if (format.promptOnly) return [];
      const { content, finish } = delta;
      const shown = shownTokens(delta);
      tokens += countTokens(delta);
      return [
        chunk(content, {
          logprobs: forChunk(writer.sampled(shown)),
          finish_reason: wireFinishReason(finish),
          ...(finish ? { stop_reason: finish.stopReason, ...ended() } : {}),
          token_ids: format.returnTokenIds ? shown.map(({ tokenId }) => tokenId) : null,
        }),
      ];
    },
    get tokens() {
      return tokens;
    },
  };
}

export const completionUsageChunk = (head: CompletionHead, completionTokens: number) => ({
  ...headOf(head),
  choices: [],
  usage: usageOf(head.answers, completionTokens, 0),
});
