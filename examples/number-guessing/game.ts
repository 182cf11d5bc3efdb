// The game: the model guesses a number between 1 and 20 and hears higher or lower. One conversation, up to seven turns of the
// model, one reward for the whole: the fewer guesses, the better.
import type { Environment, Message, Scenario } from '../shared/environments.ts';
import type { HeldOut } from '../shared/held-out.ts';

const LARGEST = 20;
const SECRETS = Array.from({ length: LARGEST }, (_, i) => i + 1);
const GUESSES_MAX = 7;

function scenario(secret: number): Scenario {
  return {
    about: { secret },
    async play(ask) {
      const said: unknown[] = [{ role: 'user', content: `Guess a number between 1 and ${LARGEST}.` }];
      const messages = said.slice() as Message[];
      for (let guesses = 1; guesses <= GUESSES_MAX; guesses++) {
        const choice = await ask(messages);
        const content = choice.message.content ?? '';
        said.push(choice); // unchanged, with its logprobs: this turn is trained
        messages.push({ role: 'assistant', content });
        const guess = Number(content.trim() || NaN);
        if (guess === secret) return { messages_and_choices: said, reward: 1 - (guesses - 1) / GUESSES_MAX };
        if (!Number.isInteger(guess)) break; // the model left the game
        const hint: Message = { role: 'user', content: guess < secret ? 'higher' : 'lower' };
        said.push(hint);
        messages.push(hint);
      }
      return { messages_and_choices: said, reward: 0 };
    },
  };
}

/** A game after two guesses: the possible numbers lie between them. */
const position = (above: number, below: number): HeldOut['prompts'][number] => ({
  messages: [
    { role: 'user', content: `Guess a number between 1 and ${LARGEST}.` },
    { role: 'assistant', content: String(above) },
    { role: 'user', content: 'higher' },
    { role: 'assistant', content: String(below) },
    { role: 'user', content: 'lower' },
  ],
  metadata: { above, below },
});

const GAP = 4;

/** Whether the next guess respects both hints, in constructed games: all checkpoints get the same ones. */
const heldOut: HeldOut = {
  prompts: SECRETS.slice(0, LARGEST - GAP).map((above) => position(above, above + GAP)),
  samples: 8,
  maxTokens: 4,
  reward: (answer, { above, below }) => {
    const guess = Number(answer.trim() || NaN);
    return Number.isInteger(guess) && guess > Number(above) && guess < Number(below) ? 1 : 0;
  },
};

export const numberGuessing: Environment = {
  name: 'number guessing',
  // Every number once per step, so that steps can be compared.
  scenarios: () => SECRETS.map(scenario),
  rolloutsPerScenario: 12,
  steps: 16,
  maxTokens: 4,
  config: { learning_rate: 5e-4, packed_sequence_length: 1024 }, // 9 to 12 gradient steps; twice the rate falls back on some processors
  heldOut,
  gainMin: 0.05, // three standard errors: a mean of three steps has 720 rollouts of deviation 0.3
};
