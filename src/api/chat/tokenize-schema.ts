// POST /tokenize and /detokenize in vLLM's format: a text, or the prompt of a conversation.
import { z } from 'zod';
import { nonEmpty } from '#base/non-empty';
import { isObject } from '#base/is-object';
import type { Conversation } from '#services/chat/chat-request';
import { PLAIN_PROMPT } from '#services/chat/plain-options';
import { OF_VLLM } from './chat-decisions.ts';
import { applyDecisions } from './field-decisions.ts';
import { MAX_MESSAGES, MAX_TOOLS } from './chat-request.ts';
import { modelField } from './generation-fields.ts';
import { sentKwargs, type SentVariable } from './unread-variables.ts';
import { boolean, integer, list } from '#validation/lax';
import { message, tool } from '#rows/message';
import { unknownFields, warnings } from '#validation/unknown-fields';
import { parse, refuse } from '#validation/parse';
import { asSent } from '#validation/read-ahead';

export const tokenizeSchema = z
  .looseObject({
    model: modelField,
    prompt: z.string().nullish().describe('The text to tokenize; or send `messages`.'),
    messages: list(message, MAX_MESSAGES).nullish().describe('A conversation, converted to a prompt as in chat.'),
    tools: list(tool, MAX_TOOLS)
      .nullish()
      .describe('With `messages`: functions that the chat template writes into the prompt.'),
    add_special_tokens: boolean()
      .nullish()
      .describe('Add special tokens of the tokenizer (such as BOS). Default: true for a text, false for messages.'),
    add_generation_prompt: boolean().nullish().describe('With `messages`: as in chat.'),
    continue_final_message: boolean().nullish().describe('With `messages`: as in chat.'),
    chat_template: z.string().nullish().describe('With `messages`: as in chat.'),
    chat_template_kwargs: asSent(z.looseObject({})).nullish().describe('With `messages`: as in chat.'),
    return_token_strs: boolean().nullish().describe('Return the text of each token.'),
  })
  .meta({ title: 'TokenizeRequest' });

export const tokenizedSchema = z
  .object({
    count: z.int().describe('Number of tokens.'),
    max_model_len: z.int(),
    tokens: z.array(z.int()),
    token_strs: z.array(z.string()).nullable().describe('The tokens as text.'),
    warnings,
  })
  .meta({ title: 'Tokenization' });

/** More values than a body can have. */
const TOKENS_MAX = 250_000;

export const detokenizeSchema = z
  .looseObject({
    model: modelField,
    tokens: list(integer({ ge: 0 }), TOKENS_MAX),
  })
  .meta({ title: 'DetokenizeRequest' });

export const detokenizedSchema = z.object({ prompt: z.string(), warnings }).meta({ title: 'Detokenization' });

export const tokenizerInfoQuery = z.looseObject({
  model: modelField.describe('As in chat. vLLM’s has no such field, because its server has one model.'),
});

export const tokenizerInfoSchema = z
  .looseObject({
    tokenizer_class: z.string().describe('Class of the tokenizer in Transformers.'),
    chat_template: z.string().optional().describe('The chat template in use; absent if the model has none.'),
  })
  .meta({ title: 'TokenizerInfo' });

export interface TokenizeRequest {
  readonly input:
    { readonly model: string | null; readonly text: string; readonly addSpecialTokens: boolean } | Conversation;
  readonly returnTexts: boolean;
  readonly warnings: readonly string[];
  readonly variables: readonly SentVariable[];
}

export function parseTokenize(body: unknown): TokenizeRequest {
  if (isObject(body) && body.continue_final_message === true && body.add_generation_prompt === true)
    refuse(['body'], 'Cannot set both `continue_final_message` and `add_generation_prompt` to True.', body);
  const wire = parse(tokenizeSchema, body, 'body');
  const { prompt, messages } = wire;
  const isText = typeof prompt === 'string';
  if (isText === Boolean(messages)) refuse(['body'], 'Send either prompt or messages.', body);
  const model = wire.model || null;
  return {
    input: isText
      ? { model, text: prompt, addSpecialTokens: wire.add_special_tokens ?? true }
      : {
          model,
          messages: messages!,
          tools: nonEmpty(wire.tools),
          prompt: {
            ...PLAIN_PROMPT,
            addGenerationPrompt: wire.add_generation_prompt ?? null,
            continueFinalMessage: wire.continue_final_message ?? false,
            addSpecialTokens: wire.add_special_tokens ?? false,
            chatTemplate: wire.chat_template ?? null,
            chatTemplateKwargs: wire.chat_template_kwargs ?? {},
          },
        },
    returnTexts: wire.return_token_strs ?? false,
    warnings: applyDecisions(tokenizeSchema, OF_VLLM, wire),
    variables: isText || wire.chat_template ? [] : sentKwargs(wire.chat_template_kwargs),
  };
}

export function parseDetokenize(body: unknown) {
  const wire = parse(detokenizeSchema, body, 'body');
  return { model: wire.model || null, tokens: wire.tokens, warnings: unknownFields(detokenizeSchema, wire) };
}
