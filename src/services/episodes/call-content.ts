// The texts of a call as bytes: what was asked and answered, in the form in which it may be shown again. Messages and tools that are
// those of the parent are left out. Never read for training, which uses the tokens.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib';
import { roundLongIntegers } from '#base/sent-json';
import type { ChatMessage, ToolDefinition } from '#domain/chat';

export interface SaidAnswer {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
}

export interface CallContent {
  /** Null: the prompt was text or tokens, not a conversation. */
  readonly messages: readonly ChatMessage[] | null;
  readonly tools: readonly ToolDefinition[] | null;
  /** Parameters that were used and differ from plain sampling. */
  readonly sampling: Readonly<Record<string, unknown>>;
  /** What the request told the chat template. */
  readonly template: Readonly<Record<string, unknown>>;
  /** By choice. */
  readonly answers: readonly SaidAnswer[];
}

export interface PackedContent extends CallContent {
  /** `messages` continue so many messages of the parent. */
  readonly sharedMessages: number;
  /** `tools` is null, and they are those of the parent. */
  readonly sharesTools: boolean;
}

/** No text is longer: a request is smaller, and JavaScript holds none in one string. */
const INFLATED_BYTES_MAX = 512_000_000;

const deflate = promisify(deflateRaw);
const inflate = promisify<Uint8Array, object, Buffer>(inflateRaw);

/** Shorter texts are compressed at once, which costs an eighth of handing them to a thread, and less than half a millisecond. */
const SHORT_TEXT = 16_384;

/** Tools may have integers beyond 2^53, which the stored content has rounded. */
const jsonOf = (value: unknown): string => JSON.stringify(value, roundLongIntegers);

export async function packContent(content: PackedContent): Promise<Uint8Array> {
  const text = jsonOf(content);
  return text.length > SHORT_TEXT ? deflate(text) : deflateRawSync(text);
}

export async function unpackContent(bytes: Uint8Array): Promise<PackedContent> {
  const text = await inflate(bytes, { maxOutputLength: INFLATED_BYTES_MAX });
  return JSON.parse(text.toString('utf8')) as PackedContent;
}

/** Tells whether two messages, or two lists of tools, are the same. */
export const digestOf = (value: unknown): string =>
  createHash('sha256').update(jsonOf(value)).digest('base64url').slice(0, 22);
