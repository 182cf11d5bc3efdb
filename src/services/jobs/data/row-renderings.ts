// What a chat template writes of a row if one of its messages is another: shows whether the template uses a part of the message.
import type { ChatMessage } from '#domain/chat';
import type { PreferencePair } from '#domain/dpo';
import { AppError } from '#domain/errors';
import type { SftRow } from '#domain/sft';
import type { ConversationEncoder } from '#training/conversation-encoder';

type Renderer = Pick<ConversationEncoder, 'renderClosed'>;

/** None for plain text. */
export function conversationsOf(row: SftRow | PreferencePair): readonly (readonly ChatMessage[])[] {
  if (!('tools' in row)) return [];
  return 'messages' in row ? [row.messages] : [row.chosen, row.rejected].map((answer) => [...row.prompt, ...answer]);
}

/**
 * A conversation of the row with `message` in its `place`: as the last one, because templates drop parts of earlier turns, and as a whole.
 * What the template refuses is left out.
 */
export function renderedWith(
  row: SftRow | PreferencePair,
  messages: readonly ChatMessage[],
  place: number,
  message: ChatMessage,
  { renderClosed }: Renderer,
): string[] {
  const context = 'tools' in row ? { tools: row.tools, variables: row.variables } : { tools: null };
  const changed = messages.with(place, message);
  const ends = [...new Set([place + 1, changed.length])];
  return ends.flatMap((end) => {
    try {
      return renderClosed(changed.slice(0, end), context);
    } catch (error) {
      if (error instanceof AppError) return [];
      throw error;
    }
  });
}
