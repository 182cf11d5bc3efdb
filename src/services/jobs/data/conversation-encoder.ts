// Tokenizes conversations for training (training/tokenize.ts) with a base model's tokenizer and chat template: prompts and closed turns.
import type { ChatMessage } from '#domain/chat';
import { AppError } from '#domain/errors';
import { createPromptEncoding } from '#text/prompt-encoding';
import type { TextModel } from '#text/text-model';
import { createTokenSpans } from '#text/token-spans';
import type { ConversationEncoder, TemplateContext } from '#training/conversation-encoder';

/**
 * `id` is for the error of a model without a chat template. `vocabSize` is the engine's: a sampler may choose rows that pad the
 * embedding beyond the tokenizer's vocabulary (ours does not), and what was sampled can be trained.
 */
export function createConversationEncoder(
  id: string,
  { tokenizer, chatTemplate, eosTokenIds }: Pick<TextModel, 'tokenizer' | 'chatTemplate' | 'eosTokenIds'>,
  vocabSize: number,
): ConversationEncoder {
  function render(
    messages: readonly ChatMessage[],
    { tools, variables }: TemplateContext,
    end: 'open' | 'closed' | 'continued',
  ): string {
    if (!chatTemplate)
      throw new AppError(
        'invalid_request',
        `\`${id}\` has no chat template, so it cannot train on conversations. Start the server with --chat-template FILE, or send token ids.`,
      );
    return chatTemplate.render({
      messages,
      tools,
      variables,
      addGenerationPrompt: end === 'open',
      continueFinalMessage: end === 'continued',
    });
  }

  /** Found by comparison: the same conversation with its last turn left open and closed. */
  function readTurnEnd(): string {
    if (!chatTemplate) return '';
    const messages = [
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: 'Hello.' },
    ];
    const bare = { tools: null };
    return render(messages, bare, 'closed').slice(render(messages, bare, 'continued').length);
  }

  /** Read when the model is loaded: a template that never ends, or an expression of its tokenizer, is a fault of its files. */
  function readEndId(): number | undefined {
    try {
      return tokenizer.encode(readTurnEnd())[0];
    } catch (cause) {
      if (!(cause instanceof AppError)) throw cause;
      const message = `\`${id}\` cannot write a question with an answer, each "Hello.": ${cause.message}`;
      throw new AppError('bad_model_files', message, { cause });
    }
  }

  const endId = readEndId();
  const encode = createPromptEncoding(
    tokenizer,
    endId !== undefined && tokenizer.isSpecial(endId) ? tokenizer.sourceText(endId) : null,
  );
  const stops = eosTokenIds.map((id) => ({ id, text: tokenizer.sourceText(id) })).filter(({ text }) => text !== '');

  return {
    vocabSize,
    renderPrompt: (messages, context) => render(messages, context, 'open'),
    renderClosed: (messages, context) => render(messages, context, 'closed'),
    generatedBlocks: (messages, context) =>
      chatTemplate?.renderBlocks({ messages, ...context, addGenerationPrompt: false })?.blocks ?? null,
    stops: stops.map(({ text }) => text),
    stopId: stops[0]?.id ?? null,
    encode,
    encodeText(text) {
      const tokens = tokenizer.encodePlaces(text);
      return { ids: tokens.ids, find: createTokenSpans(tokens, tokenizer) };
    },
    encodePlain: (text) => tokenizer.encode(text, { addSpecialTokens: true }),
    /** By its bytes; if no single token has them, by its spelling in the vocabulary, which must not contradict known bytes. */
    findToken(token) {
      const bytes = typeof token === 'string' ? Buffer.from(token) : Buffer.from(token);
      const only = tokenizer.tokenOfBytes(bytes);
      if (only !== null) return only;
      const spelled = tokenizer.tokenId(bytes.toString('utf8'));
      const isSure = spelled === null || typeof token === 'string' || bytes.equals(tokenizer.tokenBytes(spelled));
      return isSure ? spelled : null;
    },
  };
}
