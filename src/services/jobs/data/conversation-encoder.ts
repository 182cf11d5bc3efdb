// Tokenizes conversations for training (training/tokenize.ts) with a base model's tokenizer and chat template: prompts and closed turns.
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import { AppError } from '#domain/errors';
import { createPromptEncoding } from '#text/prompt-encoding';
import type { TextModel } from '#text/text-model';
import type { ConversationEncoder } from '#training/tokenize';

/**
 * `id` is for the error of a model without a chat template. `vocabSize` is the engine's: a sampler may choose rows that pad the
 * embedding beyond the tokenizer's vocabulary (ours does not), and what was sampled can be trained.
 */
export function createConversationEncoder(
  id: string,
  { tokenizer, chatTemplate }: TextModel,
  vocabSize: number,
): ConversationEncoder {
  function render(
    messages: readonly ChatMessage[],
    tools: readonly ToolDefinition[] | null,
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
    return render(messages, null, 'closed').slice(render(messages, null, 'continued').length);
  }

  const turnEnd = readTurnEnd();
  const [endId] = tokenizer.encode(turnEnd);

  return {
    vocabSize,
    renderPrompt: (messages, tools) => render(messages, tools, 'open'),
    renderClosed: (messages, tools) => render(messages, tools, 'closed'),
    turnEnd,
    encode: createPromptEncoding(
      tokenizer,
      endId !== undefined && tokenizer.isSpecial(endId) ? tokenizer.tokenText(endId) : null,
    ),
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
