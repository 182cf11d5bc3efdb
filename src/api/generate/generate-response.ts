// Tokens in the format of vLLM's POST /inference/v1/generate: whole answers, or chunks of one choice each. A log-probability has the names
// of vLLM's newest version (`token_id`, `rank`) and of the earlier ones (`token`: `token_id:N`), which clients of both read.
import { lazily } from '#base/lazy-list';
import type { ChatDelta } from '#services/chat/answer';
import type { CollectedChoice } from '#services/chat/collected-choice';
import type { SampledToken } from '#services/chat/collected-tokens';
import type { CompletionAnswer } from '#services/chat/completions';
import { warned } from '#validation/unknown-fields';
import {
  countTokens,
  policyStep,
  seconds,
  shownTokens,
  usageOf,
  weightVersions,
  wireFinishReason,
} from '../chat/answer-fields.ts';
import { finite, promptLogprobs } from '../chat/chat-logprobs.ts';
import type { GenerateFormat } from './generate-request.ts';

/** The values that all parts of one answer share. */
export interface GeneratedHead {
  readonly requestId: string;
  readonly createdAtMs: number;
  readonly answer: CompletionAnswer;
  readonly format: GenerateFormat;
}

export const generationId = (requestId: string): string => `generate-tokens-${requestId}`;

const headOf = ({ requestId, format }: GeneratedHead) => ({ request_id: requestId, output_mode: format.outputMode });

/** Has lazy lists. */
export function generatedTokens(head: GeneratedHead, choices: readonly CollectedChoice[]) {
  const { answer, format, createdAtMs } = head;
  const sampled = choices.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
  return {
    ...headOf(head),
    model: answer.model.servedName,
    created: seconds(createdAtMs),
    choices: choices.map((choice, index) => ({
      ...piece(head, index, choice, choice.tokens.ids, (write) => lazily(choice.tokens, write)),
      ...policyStep(answer),
      ...weightVersions(answer, choice.tokenCount),
    })),
    usage: usageOf([answer], sampled, 0),
    prompt_logprobs: format.promptLogprobs ? promptLogprobs(answer) : null,
    prompt_token_ids: format.returnTokenIds ? answer.promptTokens : null,
    kv_transfer_params: null,
    ...warned(format.warnings),
  };
}

/** The whole of a choice, or a part of it. */
function piece(
  { answer, format }: GeneratedHead,
  index: number,
  { content, finish }: Pick<ChatDelta, 'content' | 'finish'>,
  tokenIds: ArrayLike<number>,
  listTokens: <R>(write: (token: SampledToken) => R) => Iterable<R>,
) {
  return {
    index,
    token_ids: tokenIds,
    ...(format.outputMode === 'text' ? { text: content } : {}),
    logprobs: format.logprobs === null ? null : { content: listTokens(logprobWriter(answer, format)) },
    finish_reason: wireFinishReason(finish),
    stop_reason: finish?.stopReason ?? null,
  };
}

/** The sampled token, and the list that begins with it: as long as the request says, at least of one. */
function logprobWriter({ model }: CompletionAnswer, { logprobs, ranksLogprobs, outputMode }: GenerateFormat) {
  const { tokenizer } = model.base.text;
  const entry = (tokenId: number, logprob: number, rank: number | null) => ({
    token: outputMode === 'text' ? tokenizer.tokenText(tokenId) : `token_id:${tokenId}`,
    token_id: tokenId,
    logprob: finite(logprob),
    ...(outputMode === 'text' ? { bytes: Array.from(tokenizer.tokenBytes(tokenId)) } : {}),
    rank,
  });
  return ({ tokenId, logprob, topLogprobs }: SampledToken) => {
    const listed = topLogprobs.map((top, index) => entry(top.tokenId, top.logprob, ranksLogprobs ? index + 1 : null));
    const own = listed.find((top) => top.token_id === tokenId) ?? entry(tokenId, logprob, null);
    const list = [own, ...listed.filter((top) => top.token_id !== tokenId)];
    return { ...own, top_logprobs: logprobs === -1 ? list : list.slice(0, Math.max(1, logprobs ?? 1)) };
  };
}

/** Chunks of all choices, whose deltas arrive in any order. */
export function createGeneratedChunks(head: GeneratedHead, choices: number) {
  const { answer, format } = head;
  const tokens = new Array<number>(choices).fill(0);
  let isFirst = true;
  return {
    delta(delta: ChatDelta): object {
      const { choiceIndex } = delta;
      const shown = shownTokens(delta);
      tokens[choiceIndex]! += countTokens(delta);
      const opening = isFirst
        ? { ...(format.returnTokenIds ? { prompt_token_ids: answer.promptTokens } : {}), ...warned(format.warnings) }
        : {};
      isFirst = false;
      const ended = { ...policyStep(answer), ...weightVersions(answer, tokens[choiceIndex]!) };
      return {
        ...headOf(head),
        ...opening,
        choices: [
          {
            ...piece(
              head,
              choiceIndex,
              delta,
              shown.map(({ tokenId }) => tokenId),
              (write) => shown.map(write),
            ),
            ...(delta.finish ? ended : {}),
          },
        ],
        usage: format.continuousUsage ? usageOf([answer], tokens[choiceIndex]!, 0) : null,
      };
    },
    usage(): object {
      const sum = tokens.reduce((all, count) => all + count, 0);
      return { ...headOf(head), choices: [], usage: usageOf([answer], sum, 0) };
    },
  };
}
