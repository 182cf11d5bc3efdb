// A delta of an answer that says nothing: tests name what theirs has.
import type { ChatDelta } from '#services/chat/answer';

export const plainDelta = (fields: Partial<ChatDelta>): ChatDelta => ({
  choiceIndex: 0,
  token: { choiceIndex: 0, tokenId: 1, logprob: -1, topLogprobs: [], finishReason: null },
  content: '',
  reasoning: '',
  toolCalls: [],
  thinking: null,
  hidden: false,
  finish: null,
  ...fields,
});
