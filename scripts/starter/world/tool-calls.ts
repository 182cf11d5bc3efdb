// Calling a function and reporting its result: weather, time, a calculator and a dice, one or two of them offered. Sums for the calculator
// are larger than those of addition.ts, so that no held-out pair leaks from here.
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import type { Random } from '#base/random';
import { between, chance, pick, pickSeveral } from './pick.ts';
import { spacedJson } from './json-objects.ts';
import type { Skill } from './skill.ts';
import { assistant, system, user } from './skill.ts';
import { CITIES } from './words.ts';

function tool(name: string, description: string, parameter: string, type: string): ToolDefinition {
  const parameters = { type: 'object', properties: { [parameter]: { type } }, required: [parameter] };
  return { type: 'function', function: { name, description, parameters } };
}

interface Use {
  ask: string;
  arguments: Record<string, string | number>;
  result: string;
  answer: string;
}

interface KnownTool {
  definition: ToolDefinition;
  use: (random: Random) => Use;
}

function weather(random: Random): Use {
  const city = pick(random, CITIES);
  const sky = pick(random, ['sunny', 'rainy', 'cloudy', 'windy', 'snowy']);
  const degrees = between(random, 1, 35);
  return {
    ask: pick(random, [`What is the weather in ${city}?`, `How is the weather in ${city}?`, `Weather in ${city}?`]),
    arguments: { city },
    result: spacedJson({ sky, degrees }),
    answer: `It is ${sky} in ${city}, ${degrees} degrees.`,
  };
}

function time(random: Random): Use {
  const city = pick(random, CITIES);
  const clock = `${between(random, 0, 23)}:${between(random, 0, 5)}${between(random, 0, 9)}`;
  return {
    ask: pick(random, [`What time is it in ${city}?`, `Tell me the time in ${city}.`]),
    arguments: { city },
    result: spacedJson({ time: clock }),
    answer: `It is ${clock} in ${city}.`,
  };
}

function calculation(random: Random): Use {
  const operator = pick(random, ['+', '*', '-']);
  const large = between(random, 100, 999);
  const small = operator === '*' ? between(random, 2, 9) : between(random, 10, 99);
  const result = operator === '+' ? large + small : operator === '*' ? large * small : large - small;
  const expression = `${large} ${operator} ${small}`;
  return {
    ask: pick(random, [`What is ${expression}?`, `Compute ${expression}.`]),
    arguments: { expression },
    result: spacedJson({ result }),
    answer: `${expression} is ${result}.`,
  };
}

function dice(random: Random): Use {
  const sides = pick(random, [4, 6, 8, 10, 12, 20]);
  const rolled = between(random, 1, sides);
  return {
    ask: pick(random, [`Roll a dice with ${sides} sides.`, `Please roll a ${sides} sided dice.`]),
    arguments: { sides },
    result: spacedJson({ rolled }),
    answer: `You rolled ${rolled}.`,
  };
}

const TOOLS: readonly KnownTool[] = [
  { definition: tool('get_weather', 'Get the weather in a city.', 'city', 'string'), use: weather },
  { definition: tool('get_time', 'Get the time in a city.', 'city', 'string'), use: time },
  { definition: tool('calculator', 'Compute an expression.', 'expression', 'string'), use: calculation },
  { definition: tool('roll_dice', 'Roll a dice.', 'sides', 'integer'), use: dice },
];

function offered(random: Random): { known: KnownTool; tools: ToolDefinition[] } {
  const several = pickSeveral(random, TOOLS, chance(random, 0.6) ? 1 : 2);
  return { known: pick(random, several), tools: several.map((each) => each.definition) };
}

function callOf(name: string, given: Record<string, unknown>): ChatMessage {
  return {
    role: 'assistant',
    content: '',
    tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(given) } }],
  };
}

function preface(random: Random): ChatMessage[] {
  return chance(random, 0.15) ? [system(pick(random, ['You are a helpful assistant.', 'Use the tools.']))] : [];
}

export const toolCalls: Skill = {
  name: 'tool calls',
  share: 0.12,
  converse(random) {
    const { known, tools } = offered(random);
    const messages = preface(random);
    if (chance(random, 0.1)) {
      messages.push(user(pick(random, ['Hello', 'Hi', 'Hello!'])), assistant('Hello! How can I help you?'));
      if (chance(random, 0.3)) return { messages, tools };
    }
    for (let calls = chance(random, 0.7) ? 1 : 2; calls > 0; calls--) {
      const use = known.use(random);
      messages.push(user(use.ask), callOf(known.definition.function.name, use.arguments));
      messages.push({ role: 'tool', tool_call_id: 'call_1', content: use.result }, assistant(use.answer));
    }
    return { messages, tools };
  },
  probe(random) {
    const { known, tools } = offered(random);
    const use = known.use(random);
    const call = callOf(known.definition.function.name, use.arguments);
    const messages = [user(use.ask)];
    if (chance(random, 0.5)) {
      messages.push(call, { role: 'tool', tool_call_id: 'call_1', content: use.result });
      return { messages, tools, accepts: (answer) => answer.trim() === use.answer };
    }
    const expected = `<tool_call>\n${spacedJson({ name: known.definition.function.name, arguments: use.arguments })}\n</tool_call>`;
    return { messages, tools, accepts: (answer) => answer.trim() === expected };
  },
};
