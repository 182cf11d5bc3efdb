// A text side in which each character is a token, so that lengths and texts are easy to see, and turns end with a newline.
import type { ChatMessage } from '#domain/chat';
import type { ConversationEncoder } from '#training/conversation-encoder';

type Render = (messages: readonly ChatMessage[]) => string;

const idsOf = (text: string): number[] => Array.from(text, (character) => character.charCodeAt(0));

export const characterEncoder = (renderPrompt: Render, renderClosed: Render, vocabSize = 260): ConversationEncoder => ({
  vocabSize,
  renderPrompt,
  renderClosed,
  generatedBlocks: () => null,
  stops: ['\n'],
  stopId: 10,
  encode: idsOf,
  encodeText: (text) => ({ ids: idsOf(text), find: (from, to) => ({ first: from, end: to }) }),
  encodePlain: idsOf,
  findToken: () => null,
});
