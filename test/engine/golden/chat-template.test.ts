// Rendered conversations and their token ids compared with Transformers' apply_chat_template. The templates are ours, like those
// of Qwen 3 (chat_template.jinja) and of Llama 3.1 (in tokenizer_config.json), and use the same features.
import { expect, describe, test } from 'vitest';
import { systemClock } from '#base/clock';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import { findChatTemplate } from '#text/chat-template-files';
import { readTokenizer } from '#text/tokenizer';
import { readTokenizerFiles } from '#text/tokenizer-files';
import { fixturePath, readFixture } from '../../support/golden/fixture.ts';

interface Conversation {
  readonly name: string;
  /** The arguments of apply_chat_template. */
  readonly arguments: {
    readonly messages: readonly ChatMessage[];
    readonly tools?: readonly ToolDefinition[];
    readonly add_generation_prompt: boolean;
    readonly [variable: string]: unknown;
  };
}
interface Expected {
  readonly conversations: readonly (Conversation & { rendered: string; ids: number[] })[];
  readonly hardConversations: readonly (Conversation & { rendered: string })[];
  readonly refusedConversations: readonly (Conversation & { error: string })[];
}

describe.each(['qwen', 'llama3'])('%s', async (style) => {
  const directory = fixturePath(`tokenizers/${style}`);
  const tokenizer = await readTokenizer(directory);
  const template = await findChatTemplate(directory, await readTokenizerFiles(directory), systemClock);
  const expected = readFixture<Expected>(`tokenizers/${style}/expected.json`);

  function render(conversation: Conversation): string {
    const { messages, tools, add_generation_prompt: addGenerationPrompt, ...variables } = conversation.arguments;
    return template!.render({ messages, tools, addGenerationPrompt, variables });
  }

  test.each(expected.conversations)('renders "$name" as Transformers does', (conversation) => {
    const text = render(conversation);
    expect(text).toBe(conversation.rendered);
    expect(tokenizer.encode(text)).toEqual(conversation.ids);
  });

  // Numbers that JSON.parse alone would format differently.
  test.each(expected.hardConversations)('renders "$name" as Transformers does', (conversation) => {
    expect(render(conversation)).toBe(conversation.rendered);
  });

  test.each(expected.refusedConversations)('refuses "$name" with the words of the template', (conversation) => {
    expect(() => render(conversation)).toThrow(conversation.error);
  });
});
