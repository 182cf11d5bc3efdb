// What training needs of a base model's text side. services/jobs/data/conversation-encoder.ts makes one.
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import type { NamedToken } from '#domain/trajectory';

/** What a conversation is rendered with, beside its messages. */
export interface TemplateContext {
  readonly tools: readonly ToolDefinition[] | null;
  /** Variables of the template, such as `enable_thinking`. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

/** Characters `[from, to)`. */
export interface TextRun {
  readonly from: number;
  readonly to: number;
}

export interface EncodedText {
  readonly ids: readonly number[];
  /** The tokens, `first` to `end` without `end`, that stand for these characters. */
  readonly find: (from: number, to: number) => { readonly first: number; readonly end: number };
}

export interface ConversationEncoder {
  readonly vocabSize: number;
  /** The template's text up to and including the beginning of the next assistant turn. */
  renderPrompt(messages: readonly ChatMessage[], context: TemplateContext): string;
  /** The template's text with every turn closed. */
  renderClosed(messages: readonly ChatMessage[], context: TemplateContext): string;
  /** Where the template's `{% generation %}` blocks lie in that text; null: it has none. */
  generatedBlocks(messages: readonly ChatMessage[], context: TemplateContext): readonly TextRun[] | null;
  /** Texts of the tokens that end a generation, the model's own end first. Empty: none is known. */
  readonly stops: readonly string[];
  /** A text in which the template wrote the special tokens. */
  encode(text: string): readonly number[];
  /** The same, with the places of the tokens. */
  encodeText(text: string): EncodedText;
  /** A plain text, with the tokens that the tokenizer puts before and after every text. */
  encodePlain(text: string): readonly number[];
  /** The id of the token that ends a generation; null: none is known. */
  readonly stopId: number | null;
  /** The id of a token that was sent without one; null if it is ambiguous. */
  findToken(token: Exclude<NamedToken, number>): number | null;
}
