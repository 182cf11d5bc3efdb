// The tasks of the bench time-to-reward: what is asked, how long answers may be, what an environment says to a first answer, and which
// reward an answer gets. The same for every trainer, which is why trainers ask this module even if they are written in Python.

export interface Task {
  readonly question: string;
  /** The right answer to the last turn. */
  readonly answer: string;
  /** Of a task with two turns: the right first answer, and what follows it. */
  readonly first?: { readonly answer: string; readonly reply: string; readonly otherwise: string };
}

export interface RewardTask {
  readonly length: 'short' | 'middling' | 'long';
  readonly tasksPerStep: number;
  readonly answersPerTask: number;
  /** Answers whose gradients TRL computes at once, and then adds up: with all of them it needs more than 24 GB. Absent: all. */
  readonly trlAtOnce?: number;
  /** Bound of the tokens of each turn. */
  readonly maxTokens: readonly number[];
  /** Task number `index` of the endless list of tasks. */
  readonly taskAt: (index: number) => Task;
  /** Between 0 and 1. `turns`: what the model said, first turn first. */
  readonly rewardOf: (task: Task, turns: readonly string[]) => number;
}

const pick = <T>(list: readonly T[], index: number): T => list[index % list.length]!;

const TOPICS: Readonly<Record<string, readonly string[]>> = {
  sports: ['The striker won the final', 'Our goalkeeper saved the match', 'The sprinter broke the record'],
  food: ['The chef made a soup of carrots', 'The bakery serves fresh bread', 'My aunt bakes apple pies'],
  weather: ['Heavy rain is expected', 'The storm brought strong winds', 'Snow covered the roads'],
  music: ['The orchestra played a waltz', 'The band recorded an album', 'The choir practised a melody'],
};
const WHEN = [
  'on Saturday',
  'this morning',
  'last week',
  'in the evening',
  'on the first of May',
  'yesterday',
  'again',
];

export function topicAt(index: number): Task {
  const [answer, sentences] = pick(Object.entries(TOPICS), index);
  const sentence = `${pick(sentences, Math.floor(index / 4))} ${pick(WHEN, index)}.`;
  const question = `Which topic is this sentence about: sports, food, weather or music? Answer with one word.\n\n${sentence}`;
  return { question, answer };
}

export const TOPIC_NAMES = Object.keys(TOPICS);

const wordOf = (text: string): string => text.trim().replace(/\.$/, '').toLowerCase();

const NAMES = ['Anna', 'Peter', 'Maria', 'John', 'Sofia', 'David', 'Laura'];
const CITIES = ['Paris', 'London', 'Rome', 'Madrid', 'Vienna'];

function recordAt(index: number): Task {
  const [name, city] = [pick(NAMES, index), pick(CITIES, index)];
  const question =
    `${name} is a teacher, has two children and lives in ${city}. ` +
    `Answer with JSON alone that has the keys "name" and "city".`;
  return { question, answer: JSON.stringify({ name, city }) };
}

/** A quarter for JSON, one for exactly these keys, and one for each right value. */
function rewardOfRecord({ answer }: Task, [text]: readonly string[]): number {
  let found: unknown;
  try {
    found = JSON.parse(text!);
  } catch {
    return 0;
  }
  if (typeof found !== 'object' || found === null) return 0;
  const right = JSON.parse(answer) as Record<string, string>;
  const has = found as Record<string, unknown>;
  const hasKeys = Object.keys(has).toSorted().join() === Object.keys(right).toSorted().join();
  return 0.25 + (hasKeys ? 0.25 : 0) + 0.25 * Object.keys(right).filter((key) => has[key] === right[key]).length;
}

const TOOLS: readonly (readonly [
  tool: string,
  question: (index: number) => string,
  result: (index: number) => string,
])[] = [
  ['calculator', (i) => `What is ${17 + i} times ${3 + (i % 5)}?`, (i) => String((17 + i) * (3 + (i % 5)))],
  ['clock', (i) => `What time is it in ${pick(CITIES, i)}?`, (i) => `${9 + (i % 10)}:30`],
  ['forecast', (i) => `How warm will it be tomorrow in ${pick(CITIES, i)}?`, (i) => `${10 + (i % 20)} degrees`],
];

function toolAt(index: number): Task {
  const [tool, ask, tell] = pick(TOOLS, index);
  return {
    question: `You have three tools: calculator, clock, forecast. Name the one tool that you need, with one word.\n\n${ask(index)}`,
    answer: tell(index),
    first: {
      answer: tool,
      reply: `The ${tool} says: ${tell(index)}. Now answer the question in one short sentence.`,
      otherwise: 'There is no such tool. Answer the question in one short sentence.',
    },
  };
}

/** Names the right tool, and no other. */
const namesTool = (text: string, right: string): boolean =>
  TOOLS.every(([tool]) => text.toLowerCase().includes(tool) === (tool === right));

/** A quarter for the right tool, one more for its name alone, and half for an answer with its result. */
const rewardOfTool = ({ first, answer }: Task, [tool, last]: readonly string[]): number =>
  (namesTool(tool!, first!.answer) ? 0.25 : 0) +
  (wordOf(tool!) === first!.answer ? 0.25 : 0) +
  (last!.includes(answer) ? 0.5 : 0);

const HEROES = ['a lighthouse keeper', 'a young fox', 'two brothers', 'an old sailor', 'a lost robot'];

const storyAt = (index: number): Task => ({
  question: `Write a story about ${pick(HEROES, index)} who finds ${pick(['a map', 'a key', 'a letter'], index)}. Use short sentences.`,
  answer: '',
});

const SHORT_SENTENCE_WORDS = 10;

/** The share of short sentences among those that have an end. */
function rewardOfStory(_task: Task, [text]: readonly string[]): number {
  const sentences = text!.split(/[.!?]+/).slice(0, -1);
  const areShort = sentences.filter((sentence) => sentence.trim().split(/\s+/).length <= SHORT_SENTENCE_WORDS);
  return sentences.length === 0 ? 0 : areShort.length / sentences.length;
}

/** What the environment says after a first answer. */
export const replyTo = ({ first }: Task, answer: string): string =>
  namesTool(answer, first!.answer) ? first!.reply : first!.otherwise;

const EIGHT_BY_EIGHT = { tasksPerStep: 8, answersPerTask: 8 };
export const REWARD_TASKS: Readonly<Record<string, RewardTask>> = {
  topic: {
    ...EIGHT_BY_EIGHT,
    length: 'short',
    maxTokens: [8],
    taskAt: topicAt,
    rewardOf: ({ answer }, [text]) => (wordOf(text!) === answer ? 1 : 0),
  },
  json: { ...EIGHT_BY_EIGHT, length: 'middling', maxTokens: [24], taskAt: recordAt, rewardOf: rewardOfRecord },
  tools: {
    ...EIGHT_BY_EIGHT,
    trlAtOnce: 16,
    length: 'middling',
    maxTokens: [8, 16],
    taskAt: toolAt,
    rewardOf: rewardOfTool,
  },
  story: {
    tasksPerStep: 4,
    answersPerTask: 8,
    trlAtOnce: 8,
    length: 'long',
    maxTokens: [256],
    taskAt: storyAt,
    rewardOf: rewardOfStory,
  },
};
