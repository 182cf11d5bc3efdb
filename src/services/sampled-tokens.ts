// A bounded memory of what trainable models said, token by token: rollouts that did not ask for logprobs, or lost them on the
// way, are still trained on exactly the tokens that were sampled. In memory only; what was forgotten is reported as skipped.
// Looked up when a job is submitted, so that the job's body is complete and a replay of it does not depend on memory.
import { createHash } from 'node:crypto';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import type { History, RlJobBody, SampledTurn, Turn } from '#domain/trajectory';
import type { Model } from '#domain/model';
import type { BaseModels } from './base-models.ts';

export interface Said {
  readonly entity: string;
  readonly baseModel: string;
  readonly promptTokens: readonly number[];
  /** As the client saw it. */
  readonly content: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
}

export interface SampledAnswer {
  readonly tokenIds: Int32Array;
  /** Nats. */
  readonly logprobs: Float32Array;
}

export interface SampledTokens {
  remember(said: Said, answer: SampledAnswer): void;
  /** The latest, where several were the same text. */
  find(said: Said): SampledAnswer | null;
}

const TOKENS_MAX = 4_000_000; // 32 MB: the rollouts of several RL steps

export function createSampledTokens(tokensMax = TOKENS_MAX): SampledTokens {
  /** Oldest first. */
  const answers = new Map<string, SampledAnswer>();
  let tokenCount = 0;

  function forget(key: string): void {
    tokenCount -= answers.get(key)?.tokenIds.length ?? 0;
    answers.delete(key);
  }

  return {
    remember(said, answer) {
      if (answer.tokenIds.length > tokensMax) return;
      const key = keyOf(said);
      forget(key);
      for (const oldest of answers.keys()) {
        if (tokenCount + answer.tokenIds.length <= tokensMax) break;
        forget(oldest);
      }
      answers.set(key, answer);
      tokenCount += answer.tokenIds.length;
    },
    find: (said) => answers.get(keyOf(said)) ?? null,
  };
}

function keyOf({ entity, baseModel, promptTokens, content, calls }: Said): string {
  const text = JSON.stringify([entity, baseModel, content, calls.map(({ name, arguments: text }) => [name, text])]);
  return createHash('sha256').update(text).update(Int32Array.from(promptTokens)).digest('base64');
}

/** Gives the Choices that carry no tokens what the memory has of them. */
export function recallTokens(
  body: RlJobBody,
  { entity, baseModel }: Pick<Model, 'entity' | 'baseModel'>,
  baseModels: BaseModels,
  memory: SampledTokens,
): RlJobBody {
  const text = baseModels.find(baseModel)?.text; // not served any more: the job itself will say so
  if (!text?.chatTemplate) return body;
  const { chatTemplate, tokenizer } = text;

  function recallTurn(
    turn: SampledTurn,
    before: readonly ChatMessage[],
    tools: readonly ToolDefinition[] | null,
  ): Turn {
    if (turn.tokens !== null) return turn;
    const prompt = chatTemplate.render({ messages: before, tools, addGenerationPrompt: true });
    const promptTokens = tokenizer.encode(prompt);
    const { content, tool_calls: calls } = turn.message;
    const found = memory.find({
      entity,
      baseModel,
      promptTokens,
      content: typeof content === 'string' ? content : '',
      calls: (calls ?? []).map((call) => call.function),
    });
    if (!found) return turn;
    const [tokens, logprobs] = [Array.from(found.tokenIds), Array.from(found.logprobs)];
    return { ...turn, tokens, logprobs, promptTokenIds: promptTokens };
  }

  function recallHistory({ turns, tools }: History): History {
    const messages = turns.map(({ message }) => message);
    const recalled = turns.map((turn, i) =>
      turn.kind === 'sampled' ? recallTurn(turn, messages.slice(0, i), tools) : turn,
    );
    return { turns: recalled, tools };
  }

  const groups = body.groups.map((group) => ({
    ...group,
    trajectories: group.trajectories.map((each) => ({ ...each, histories: each.histories.map(recallHistory) })),
  }));
  return { ...body, groups };
}
