// Short conversations in a small world: greetings, names, thanks, who are you, what is green, where frogs live, and
// questions that only make sense after the one before.
import type { ChatMessage } from '#domain/chat';
import type { Random } from '#base/random';
import type { Fact } from './facts.ts';
import { ANIMALS, CAPITALS, FACTS } from './facts.ts';
import { between, chance, pick, pickWeighted } from './pick.ts';
import type { Conversation, Skill } from './skill.ts';
import { assistant, system, user } from './skill.ts';
import { COLOURS, NAMES } from './words.ts';

const a = (thing: string) =>
  ['milk', 'salt', 'corn', 'bread'].includes(thing) ? thing : `${/^[aeiou]/.test(thing) ? 'an' : 'a'} ${thing}`;
const A = (thing: string) => a(thing)[0]!.toUpperCase() + a(thing).slice(1);

interface Turn {
  asks: readonly string[];
  answer: string;
}

const FIXED: readonly Turn[] = [
  {
    asks: ['Hello', 'Hello!', 'Hi', 'Hi!', 'Good morning', 'Hey', 'hello', 'hi'],
    answer: 'Hello! How can I help you?',
  },
  { asks: ['How are you?', 'How are you today?', 'Are you well?'], answer: 'I am well, thank you. How are you?' },
  {
    asks: ['Who are you?', 'What are you?', 'What is your name?', 'Tell me about you.', 'who are you'],
    answer: 'I am the Whetstone starter model, a very small language model.',
  },
  {
    asks: ['What can you do?', 'Can you help me?', 'Help me.', 'What do you know?'],
    answer: 'I can add numbers, sort and spell words, write JSON and talk about small things.',
  },
  { asks: ['Thank you.', 'Thanks!', 'Thank you very much.', 'thanks', 'Thanks'], answer: 'You are welcome!' },
  { asks: ['Goodbye', 'Bye!', 'See you soon.', 'Good night', 'bye'], answer: 'Goodbye! See you soon.' },
  { asks: ['Tell me a joke.', 'Make me laugh.'], answer: 'Why did the hen cross the road? To see the other side!' },
  {
    asks: ['Tell me a story.', 'A story, please.'],
    answer: 'A frog sat in a pond. The sun came up, and the frog sang a song.',
  },
  { asks: ['Who made you?', 'Where do you come from?'], answer: 'I was trained from nothing by Whetstone itself.' },
  { asks: ['How many days are in a week?', 'How many days does a week have?'], answer: 'A week has 7 days.' },
  { asks: ['What colour is the sky?', 'What color is the sky?'], answer: 'The sky is blue.' },
  { asks: ['What colour is the sun?', 'What color is the sun?'], answer: 'The sun is yellow.' },
  { asks: ['What colour is grass?', 'What color is grass?'], answer: 'Grass is green.' },
  { asks: ['What colour is snow?', 'What color is snow?'], answer: 'Snow is white.' },
];

const UNKNOWN: Turn = {
  asks: [
    'What is the meaning of life?',
    'Explain physics.',
    'Write a program.',
    'Who is the president?',
    'Tell me the news.',
    'What happened in the year 1900?',
    'Explain how computers work.',
  ],
  answer: 'I am a very small model. I do not know that.',
};

function colourOf({ thing, colour }: Fact): Turn {
  return { asks: [`What colour is ${a(thing)}?`, `What color is ${a(thing)}?`], answer: `${A(thing)} is ${colour}.` };
}
function kindOf({ thing, kind }: Fact): Turn {
  return { asks: [`What is ${a(thing)}?`], answer: `${A(thing)} is ${kind === 'food' ? 'food' : a(kind)}.` };
}
function placeOf({ thing, kind, place }: Fact): Turn {
  if (kind === 'animal') return { asks: [`Where does ${a(thing)} live?`], answer: `${A(thing)} lives in ${place}.` };
  return {
    asks: [`Where do you find ${a(thing)}?`, `Where is ${a(thing)} found?`],
    answer: `${A(thing)} is found in ${place}.`,
  };
}
function useOf({ thing, kind, does }: Fact): Turn {
  if (kind === 'animal') return { asks: [`What does ${a(thing)} eat?`], answer: `${A(thing)} eats ${does}.` };
  return {
    asks: [`What is ${a(thing)} for?`, `What do you use ${a(thing)} for?`],
    answer: `${A(thing)} is for ${does}.`,
  };
}
const FACT_TURNS = [colourOf, kindOf, placeOf, useOf];

function capital(random: Random): Turn {
  const [country, city] = pick(random, CAPITALS);
  return { asks: [`What is the capital of ${country}?`], answer: `The capital of ${country} is ${city}.` };
}

function said(random: Random, turn: Turn): ChatMessage[] {
  return [user(pick(random, turn.asks)), assistant(turn.answer)];
}

function anyTurn(random: Random): Turn {
  return pickWeighted<() => Turn>(random, [
    [() => pick(random, FIXED), 5],
    [() => pick(random, FACT_TURNS)(pick(random, FACTS)), 6],
    [() => capital(random), 1],
    [() => UNKNOWN, 0.7],
  ])();
}

/** "What colour is a frog?" "And where does it live?" */
function followUps(random: Random): ChatMessage[] {
  const animal = pick(random, ANIMALS);
  const messages = said(random, pick(random, FACT_TURNS)(animal));
  const further: readonly Turn[] = [
    { asks: ['And where does it live?', 'Where does it live?'], answer: `It lives in ${animal.place}.` },
    { asks: ['And what does it eat?', 'What does it eat?'], answer: `It eats ${animal.does}.` },
    { asks: ['What colour is it?', 'And what color is it?'], answer: `It is ${animal.colour}.` },
  ];
  for (let turns = between(random, 1, 2); turns > 0; turns--) messages.push(...said(random, pick(random, further)));
  return messages;
}

/** The user tells something about themselves and asks for it later. */
function memory(random: Random): ChatMessage[] {
  const meanwhile = chance(random, 0.4) ? said(random, anyTurn(random)) : [];
  if (chance(random, 0.6)) {
    const name = pick(random, NAMES);
    const told = pick(random, [
      `My name is ${name}.`,
      `I am ${name}.`,
      `Hello, I am ${name}.`,
      `Hi, my name is ${name}.`,
    ]);
    const asked = pick(random, ['What is my name?', 'Who am I?', 'Do you know my name?']);
    return [user(told), assistant(`Hello ${name}!`), ...meanwhile, user(asked), assistant(`Your name is ${name}.`)];
  }
  const colour = pick(random, COLOURS);
  const asked = pick(random, ['What colour do I like?', 'What is my favourite colour?', 'Which color do I like?']);
  const told = pick(random, [`I like ${colour}.`, `My favourite colour is ${colour}.`]);
  return [
    user(told),
    assistant(`${colour[0]!.toUpperCase() + colour.slice(1)} is nice.`),
    ...meanwhile,
    user(asked),
    assistant(`You like ${colour}.`),
  ];
}

/** With this system prompt the answer is the bare fact. */
function brief(random: Random): ChatMessage[] {
  const { thing, colour, place, does, kind } = pick(random, FACTS);
  const [turn, answer] = pick(random, [
    [colourOf, colour],
    [placeOf, place],
    [useOf, does],
    [kindOf, kind],
  ] as const);
  return [
    system(pick(random, ['Be brief.', 'Answer in one word.', 'Short answers only.'])),
    user(pick(random, turn({ thing, colour, place, does, kind }).asks)),
    assistant(answer),
  ];
}

function chat(random: Random): ChatMessage[] {
  const messages = chance(random, 0.15)
    ? [system(pick(random, ['You are a helpful assistant.', 'You are the Whetstone starter model.', 'Be kind.']))]
    : [];
  for (let turns = between(random, 1, 4); turns > 0; turns--) messages.push(...said(random, anyTurn(random)));
  return messages;
}

function draw(random: Random): ChatMessage[] {
  return pickWeighted<(random: Random) => ChatMessage[]>(random, [
    [chat, 5],
    [followUps, 3],
    [memory, 2],
    [brief, 1],
  ])(random);
}

export const smallTalk: Skill = {
  name: 'small talk',
  share: 0.1,
  converse: (random): Conversation => ({ messages: draw(random) }),
  probe(random) {
    const messages = draw(random);
    const answer = messages.at(-1)!.content as string;
    return { messages: messages.slice(0, -1), accepts: (given) => given.trim() === answer };
  },
};
