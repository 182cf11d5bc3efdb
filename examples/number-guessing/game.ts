// The game: the model guesses a number between 1 and 20 and hears higher or lower. One conversation, up to seven turns of the
// model, one reward for the whole: the fewer guesses, the better.
import type { Environment, Message, Scenario } from '../shared/environments.ts';

const LARGEST = 20;
const GUESSES_MAX = 7;

function scenario(secret: number): Scenario {
  return {
    async play(ask) {
      const said: unknown[] = [{ role: 'user', content: `Guess a number between 1 and ${LARGEST}.` }];
      const messages = said.slice() as Message[];
      for (let guesses = 1; guesses <= GUESSES_MAX; guesses++) {
        const choice = await ask(messages);
        const content = choice.message.content ?? '';
        said.push(choice); // as it came, with its logprobs: this turn is trained
        messages.push({ role: 'assistant', content });
        const guess = Number(content.trim() || NaN);
        if (guess === secret) return { messages_and_choices: said, reward: 1 - (guesses - 1) / GUESSES_MAX };
        if (!Number.isInteger(guess)) break; // it left the game
        const hint: Message = { role: 'user', content: guess < secret ? 'higher' : 'lower' };
        said.push(hint);
        messages.push(hint);
      }
      return { messages_and_choices: said, reward: 0 };
    },
  };
}

export const numberGuessing: Environment = {
  name: 'number guessing',
  // Every number once per step, so that steps can be compared.
  scenarios: () => Array.from({ length: LARGEST }, (_, i) => scenario(i + 1)),
  rolloutsPerScenario: 12,
  steps: 16,
  maxTokens: 4,
  config: { learning_rate: 1e-3, packed_sequence_length: 2048 },
  gainMin: 0.08,
};
