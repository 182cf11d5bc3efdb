// An agent with two tools: it must call the right one with the right arguments, read the result, and answer with it. Half of
// the reward is for the call, half for the answer. One conversation of two turns of the model, with a tool's turn between.
import { createRandom, type Random } from '#base/random';
import type { Environment, Message, Scenario, Tool } from '../shared/environments.ts';

const tool = (name: string, description: string, parameter: string): Tool => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: { type: 'object', properties: { [parameter]: { type: 'string' } }, required: [parameter] },
  },
});
const CALCULATOR = tool('calculator', 'Compute an expression.', 'expression');
const WEATHER = tool('get_weather', 'Get the weather in a city.', 'city');
const TOOLS = [CALCULATOR, WEATHER];

interface Question {
  readonly text: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string>>;
  /** What the tool returns, and what part of it an answer must contain. */
  readonly result: Readonly<Record<string, string | number>>;
}

function sum(random: Random): Question {
  const [a, b] = [100 + random.integer(900), 10 + random.integer(90)];
  const expression = `${a} + ${b}`;
  return { text: `What is ${expression}?`, tool: 'calculator', arguments: { expression }, result: { result: a + b } };
}

const CITIES = ['Paris', 'Rome', 'Berlin', 'London', 'Madrid', 'Tokyo'];

function weather(random: Random): Question {
  const city = CITIES[random.integer(CITIES.length)]!;
  const sky = ['sunny', 'rainy', 'cloudy', 'windy'][random.integer(4)]!;
  const result = { sky, degrees: 1 + random.integer(35) };
  return { text: `What is the weather in ${city}?`, tool: 'get_weather', arguments: { city }, result };
}

const random = createRandom(7);
const QUESTIONS = Array.from({ length: 24 }, (_, i) => (i % 2 === 0 ? sum(random) : weather(random)));

function scenario(question: Question): Scenario {
  return {
    async play(ask) {
      const user: Message = { role: 'user', content: question.text };
      const call = await ask([user], TOOLS);
      const called = call.message.tool_calls?.[0];
      if (called?.type !== 'function' || !isRight(called.function, question)) {
        return { messages_and_choices: [user, call], tools: TOOLS, reward: 0 };
      }
      const toolMessage: Message = { role: 'tool', tool_call_id: called.id, content: JSON.stringify(question.result) };
      const answer = await ask([user, { ...call.message, refusal: null }, toolMessage], TOOLS);
      const text = answer.message.content ?? '';
      const right = Object.values(question.result).every((value) => new RegExp(`\\b${value}\\b`).test(text));
      return { messages_and_choices: [user, call, toolMessage, answer], tools: TOOLS, reward: right ? 1 : 0.5 };
    },
  };
}

function isRight(called: { name: string; arguments: string }, { tool, arguments: expected }: Question): boolean {
  try {
    const given = JSON.parse(called.arguments) as Record<string, unknown>;
    return called.name === tool && Object.entries(expected).every(([name, value]) => given[name] === value);
  } catch {
    return false; // not JSON
  }
}

export const toolUse: Environment = {
  name: 'tool use',
  // The same questions in each step, so that steps can be compared.
  scenarios: () => QUESTIONS.map(scenario),
  rolloutsPerScenario: 12,
  steps: 16,
  maxTokens: 40,
  config: { learning_rate: 2e-3, packed_sequence_length: 512 },
  gainMin: 0.08,
};
