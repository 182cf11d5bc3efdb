// Fills what a sampler keeps by design to its bounds, so that it does not look like a leak: cache slots for as many sequences as it serves
// at once, which it never gives back, and computed prompts.
import type { BenchServer } from '../bench-server.ts';

export const PREFIX_CACHE_MB = 32;
/** Of one request; eight of them fill a batch. */
const CHOICES = 16;
/** More than any client here asks for: cache slots have the largest size in use. */
const TOKENS_MAX = 230;
/** Together more than the cache of computed prompts holds: 3 kB per token. */
const LONG_PROMPTS = { count: 24, tokens: 900 };

export async function fillCaches(server: BenchServer, model: string): Promise<void> {
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
  const ask = async (fields: object) => {
    const body = JSON.stringify({ model, temperature: 1, ignore_eos: true, ...fields });
    const answer = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`the caches could not be filled: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  const says = (content: string) => [{ role: 'user', content }];
  const whole = { messages: says('Tell me all.'), n: CHOICES, max_tokens: TOKENS_MAX };
  await Promise.all(Array.from({ length: 8 }, () => ask(whole)));
  const long = (i: number) => ({
    messages: says(`${i} and ${i + 1}, `.repeat(1_000)),
    truncate_prompt_tokens: LONG_PROMPTS.tokens,
    max_tokens: 1,
  });
  for (let i = 0; i < LONG_PROMPTS.count; i++) await ask(long(i));
}
