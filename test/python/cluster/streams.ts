// A client that streams one answer after another while workers, nodes and the server die: each stream reaches its last token, or
// ends with an error that says why. No stream ends silently, and none stalls.
import { setTimeout as delay } from 'node:timers/promises';
import OpenAI from 'openai';
import type { ChatCompletionChunk } from 'openai/resources';

/** Between two answers: workers that start need the processors too. */
const REST_MS = 3_000;

/** Without a token: longer than an engine may be away before its streams end. */
const HANG_MS = 240_000;

export interface Streamed {
  /** The different answers that reached their last token. */
  readonly texts: ReadonlySet<string>;
  /** How the others ended: the code of the server's error, or `connection` if the server itself was gone. */
  readonly faults: ReadonlySet<string>;
}

/** At least one answer up to its last token. Throws if a stream stalled or ended silently. */
export async function streamUntil(openai: OpenAI, model: string, signal: AbortSignal): Promise<Streamed> {
  const [texts, faults] = [new Set<string>(), new Set<string>()];
  while (!signal.aborted || texts.size === 0) {
    const answer = await streamOnce(openai, model);
    if ('fault' in answer) faults.add(answer.fault);
    else if (answer.isWhole) texts.add(answer.text);
    else throw new Error(`A stream ended or stood still for ${HANG_MS} ms without a word, after: ${answer.text}`);
    await delay(REST_MS);
  }
  return { texts, faults };
}

type Answer = { readonly text: string; readonly isWhole: boolean } | { readonly fault: string };

async function streamOnce(openai: OpenAI, model: string): Promise<Answer> {
  let text = '';
  let isWhole = false;
  try {
    const stream = await openai.chat.completions.create({
      ...{ model, messages: [{ role: 'user', content: 'What is 31 + 12? Say it at length.' }], stream: true },
      ...{ temperature: 1.2, seed: 5, max_tokens: 200, ignore_eos: true },
    });
    const watch = setTimeout(() => stream.controller.abort(), HANG_MS);
    try {
      for await (const { choices } of stream as AsyncIterable<ChatCompletionChunk>) {
        watch.refresh();
        text += choices[0]?.delta.content ?? '';
        isWhole ||= choices[0]?.finish_reason === 'length';
      }
    } finally {
      clearTimeout(watch);
    }
  } catch (error) {
    const isNamed = error instanceof OpenAI.APIError && !(error instanceof OpenAI.APIConnectionError);
    return { fault: isNamed ? String(error.code) : 'connection' };
  }
  return { text, isWhole };
}
