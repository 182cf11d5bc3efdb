// Writes the tasks of this example into the current directory, one JSON object per line: topics.jsonl and topics-held-out.jsonl, in which a
// sentence is about one of four topics, and reviews.jsonl and reviews-held-out.jsonl, in which it praises or complains. Sentences are put
// together from two halves; no held-out sentence is among the others. Each line ends with the right answer, as rows for SFT do: the
// model does not see it, the reward does.
import { writeFile } from 'node:fs/promises';

const TOPICS = {
  sports: [
    ['The striker', 'Our goalkeeper', 'The young tennis player', 'The home team', 'The sprinter', 'The coach'],
    [
      'won the final on Saturday',
      'trained for the championship',
      'scored in the last minute',
      'lost the match by one point',
      'was cheered by the whole stadium',
      'broke the record of the league',
    ],
  ],
  food: [
    ['The chef', 'My grandmother', 'The bakery on the corner', 'The new restaurant', 'Our cook', 'The old inn'],
    [
      'made a soup of carrots and ginger',
      'serves fresh bread with butter',
      'roasted a chicken with potatoes',
      'bakes apple pies every Sunday',
      'put too much salt into the sauce',
      'is famous for its noodles and cheese',
    ],
  ],
  weather: [
    ['In the north', 'Over the coast', 'In the mountains', 'Across the valley', 'Near the lake', 'In the city'],
    [
      'heavy rain is expected tomorrow',
      'the storm brought strong winds',
      'the fog will clear by noon',
      'the temperature falls below zero tonight',
      'the sun will shine all week',
      'snow covered the roads this morning',
    ],
  ],
  music: [
    ['The orchestra', 'A young pianist', 'The band', 'The choir', 'The guitarist', 'The singer'],
    [
      'played a slow waltz',
      'recorded a new album',
      'performed an old folk song',
      'practised the melody for the concert',
      'wrote a symphony in four movements',
      'was on tour with a jazz quartet',
    ],
  ],
};

const THINGS = [
  'The hotel', 'This phone', 'The film', 'The headset', 'Their service', 'The book', 'This blender', 'The course',
  'The game', 'The jacket', 'The museum', 'This app', 'The sofa',
]; // prettier-ignore
const PRAISE = [
  'was wonderful and worth every penny',
  'made me very happy',
  'is the best that I ever had',
  'works perfectly and looks great',
  'was a delight from beginning to end',
  'deserves five stars',
];
const COMPLAINTS = [
  'was a waste of money',
  'made me angry within an hour',
  'is the worst that I ever had',
  'broke on the first day',
  'was dull, slow and far too long',
  'deserves no stars at all',
];

const askTopic = (sentence) =>
  `Which topic is this sentence about: sports, food, weather or music? Answer with one word.\n\n${sentence}`;
const askReview = (sentence) => `Is this review positive or negative?\n\n${sentence}`;

/** Every combination of two halves; a third of them is held out. */
const sentencesOf = (starts, ends) =>
  starts.flatMap((start, i) => ends.map((end, j) => ({ sentence: `${start} ${end}.`, isHeldOut: (i + j) % 3 === 0 })));

/** Of each kind in turn, so that any part of a file has all of them. */
const inTurn = (lists) => lists[0].flatMap((_, i) => lists.map((list) => list[i])).filter(Boolean);

const tasksOf = (kinds, ask) =>
  inTurn(
    Object.entries(kinds).map(([answer, [starts, ends]]) =>
      sentencesOf(starts, ends).map(({ sentence, isHeldOut }) => ({
        isHeldOut,
        messages: [
          { role: 'user', content: ask(sentence) },
          { role: 'assistant', content: answer },
        ],
      })),
    ),
  );
const topics = tasksOf(TOPICS, askTopic);
const reviews = tasksOf({ positive: [THINGS, PRAISE], negative: [THINGS, COMPLAINTS] }, askReview);

async function write(name, tasks) {
  await writeFile(name, tasks.map(({ messages }) => `${JSON.stringify({ messages })}\n`).join(''));
  console.log(`${name}: ${tasks.length} tasks`);
}
const trained = ({ isHeldOut }) => !isHeldOut;
const heldOut = ({ isHeldOut }) => isHeldOut;
const EXAMPLES = 100;
await write('topics.jsonl', topics.filter(trained));
await write('topics-held-out.jsonl', topics.filter(heldOut));
await write('reviews.jsonl', reviews.filter(trained).slice(0, EXAMPLES));
await write('reviews-held-out.jsonl', reviews.filter(heldOut));
