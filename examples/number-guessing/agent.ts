// An agent that plays the game of game.ts with any OpenAI-compatible endpoint. It knows nothing of training.
import type OpenAI from 'openai';

const LARGEST = 20;
const GUESSES_MAX = 7;

/** Returns how many guesses it needed; null: it never found the number, or left the game. */
export async function findNumber(openai: OpenAI, model: string, secret: number): Promise<number | null> {
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
    { role: 'user', content: `Guess a number between 1 and ${LARGEST}.` },
  ];
  for (let guesses = 1; guesses <= GUESSES_MAX; guesses++) {
    const answer = await openai.chat.completions.create({ model, messages, temperature: 1, max_tokens: 4 });
    const content = answer.choices[0]!.message.content ?? '';
    const guess = Number(content.trim() || NaN);
    if (guess === secret) return guesses;
    if (!Number.isInteger(guess)) return null;
    messages.push({ role: 'assistant', content }, { role: 'user', content: guess < secret ? 'higher' : 'lower' });
  }
  return null;
}
