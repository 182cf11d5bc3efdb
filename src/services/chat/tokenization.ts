// Converts between text and token ids with the tokenizer of a model that the caller may use. chat.ts does it for conversations.
import { createYielder } from '#base/yield-to-loop';
import { AppError } from '#domain/errors';
import { createDetokenizer } from '#text/detokenizer';
import type { Models, SampledModel } from '../models/models.ts';
import type { ChatContext } from './answer.ts';

/** Nothing is sampled, so it does not count towards the daily tokens. */
export type PromptContext = Pick<ChatContext, 'caller' | 'signal'>;

export interface TokenizedPrompt {
  readonly model: SampledModel;
  readonly tokens: readonly number[];
}

export interface Tokenization {
  /** Null: the default model. Throws `model_not_found`, `too_many_requests`. */
  tokenize(
    context: PromptContext,
    request: { readonly model: string | null; readonly text: string; readonly addSpecialTokens: boolean },
  ): Promise<TokenizedPrompt>;
  /** Includes special tokens in the text. Throws `model_not_found`, or `invalid_request` for an unknown token id. */
  detokenize(
    context: PromptContext,
    request: { readonly model: string | null; readonly tokens: readonly number[] },
  ): Promise<string>;
  /**
   * The tokenizer's configuration as Transformers has it after loading, with the chat template in use. Null: the default model.
   * Throws `model_not_found`.
   */
  describe(context: PromptContext, model: string | null): Promise<Readonly<Record<string, unknown>>>;
}

/** Between which other requests are answered. */
const TOKENS_AT_ONCE = 1_000;

export function createTokenization({ models }: { readonly models: Pick<Models, 'resolve'> }): Tokenization {
  return {
    async tokenize({ caller, signal }, { model: name, text: prompt, addSpecialTokens }) {
      const model = await models.resolve(caller, name);
      // The limit on request bodies bounds the text.
      const call = { prompt, addSpecialTokens, charactersMax: Infinity };
      const { tokens } = await model.base.text.prompts.make(call, { payer: caller.keyId, signal });
      return { model, tokens: tokens! };
    },

    async detokenize({ caller, signal }, { model: name, tokens }) {
      const { text, inference } = (await models.resolve(caller, name)).base;
      refuseUnknownTokens(tokens, inference.vocabSize, 'tokens');
      const { push, flush } = createDetokenizer(text.tokenizer, { skipSpecialTokens: false });
      const yieldToLoop = createYielder();
      let decoded = '';
      for (let from = 0; from < tokens.length; from += TOKENS_AT_ONCE) {
        await yieldToLoop();
        signal.throwIfAborted();
        decoded += tokens
          .slice(from, from + TOKENS_AT_ONCE)
          .map(push)
          .join('');
      }
      return decoded + flush();
    },

    async describe({ caller }, name) {
      const { tokenizerConfig, namedTokens, chatTemplate } = (await models.resolve(caller, name)).base.text;
      const { added_tokens_decoder: _, ...config } = tokenizerConfig;
      return {
        ...config,
        ...Object.fromEntries(namedTokens),
        tokenizer_class:
          typeof config['tokenizer_class'] === 'string' ? config['tokenizer_class'] : 'PreTrainedTokenizerFast',
        ...(chatTemplate === null ? {} : { chat_template: chatTemplate.source }),
      };
    },
  };
}

/** Throws `invalid_request`. */
export function refuseUnknownTokens(tokens: readonly number[], vocabSize: number, param: string): void {
  const unknown = tokens.find((id) => id >= vocabSize);
  if (unknown === undefined) return;
  const message = `This model has ${vocabSize} tokens: there is none with the id ${unknown}.`;
  throw new AppError('invalid_request', message, { param });
}
