// A digest that identifies a conversation whatever form its messages have: what a client sent to chat and what it later sends as
// training data differ in nulls, content parts, and empty keys. Updated message by message.
import { createHash } from 'node:crypto';
import type { ChatMessage } from '#domain/chat';

export interface ConversationDigest {
  add(message: ChatMessage): void;
  /** Digest of all messages added so far. */
  read(): string;
}

export function createConversationDigest(messages: readonly ChatMessage[] = []): ConversationDigest {
  let digest = '';
  const add = (message: ChatMessage) => {
    digest = createHash('sha256')
      .update(digest)
      .update(JSON.stringify(sayingOf(message)))
      .digest('base64');
  };
  messages.forEach(add);
  return { add, read: () => digest };
}

const sayingOf = ({ role, content, tool_calls: calls }: ChatMessage): unknown[] => [
  role,
  textOf(content),
  (calls ?? []).map(({ function: { name, arguments: text } }) => [name, text]),
];

/** Joins parts as the chat template receives them. */
export function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => (typeof part.text === 'string' ? part.text : '')).join('\n');
}
