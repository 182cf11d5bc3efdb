// What a skill of the starter model's world provides: conversations to learn from, and probes that measure it. Both are drawn from a
// seeded stream, so a corpus or an evaluation is reproducible from one number.
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import type { Random } from '#base/random';

export interface Conversation {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[];
}

/** A conversation that ends with a user or tool turn, and the judgement of the answer's text. */
export interface Probe extends Conversation {
  readonly accepts: (answer: string) => boolean;
}

export interface Skill {
  readonly name: string;
  /** Share of the corpus's tokens; the shares of all skills sum to 1. */
  readonly share: number;
  readonly converse: (random: Random) => Conversation;
  readonly probe: (random: Random) => Probe;
}

export const user = (content: string): ChatMessage => ({ role: 'user', content });
export const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });
export const system = (content: string): ChatMessage => ({ role: 'system', content });
