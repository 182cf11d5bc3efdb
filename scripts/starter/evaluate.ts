// Measures every skill of the starter model on fresh prompts, greedily and at temperature 1, and writes the numbers into
// its model card between the "measured" marks. Additions are of held-out pairs only.
//   node --import tsx -C source scripts/starter/evaluate.ts [--model models/starter] [--probes 200] [--show]
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from '#base/random';
import { openRespondent, type Respondent } from './ask.ts';
import { drawPair } from './world/addition.ts';
import type { Probe } from './world/skill.ts';
import { user } from './world/skill.ts';
import { SKILLS } from './world/world.ts';

const SEED = 20_000; // differs from the corpus's
const SAMPLES = 8;
const WORD_SAMPLES = 100; // the engine runs 128 sequences at once
const MARKS = ['<!-- measured: begin -->', '<!-- measured: end -->'] as const;

interface Score {
  name: string;
  greedy: number;
  sampled: number;
}

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'models/starter' },
    probes: { type: 'string', default: '200' },
    threads: { type: 'string', default: '2' },
    show: { type: 'boolean', default: false },
  },
});
const probeCount = Number(options.probes);

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

async function measure(respondent: Respondent, name: string, draw: (seed: number) => Probe): Promise<Score> {
  const scores = await Promise.all(
    Array.from({ length: probeCount }, async (_, i) => {
      const probe = draw(SEED + i);
      const [greedy] = await respondent.ask(probe, { temperature: 0, n: 1, seed: i });
      const sampled = await respondent.ask(probe, { temperature: 1, n: SAMPLES, seed: 1000 * i });
      if (options.show && i < 4) {
        console.log(`[${name}] ${JSON.stringify(probe.messages.at(-1)?.content)} → ${greedy} | ${sampled.join(' | ')}`);
      }
      const accepted = (answer: string): number => (probe.accepts(answer) ? 1 : 0);
      return { greedy: accepted(greedy!), sampled: mean(sampled.map(accepted)) };
    }),
  );
  return { name, greedy: mean(scores.map((s) => s.greedy)), sampled: mean(scores.map((s) => s.sampled)) };
}

function additionProbe(heldOut: boolean): (seed: number) => Probe {
  return (seed) => {
    const [a, b] = drawPair(createRandom(seed), heldOut);
    return {
      messages: [user(`What is ${a} + ${b}?`)],
      accepts: (answer) => answer.trim() === String(a + b),
    };
  };
}

/** How often each word is answered, and the mean under the demo's rewards of 0.5, 0.75 and 1. */
async function measureWords(respondent: Respondent): Promise<string> {
  const prompts = [
    'Answer with yes, no or maybe.',
    'Say yes, no or maybe. Will it be cold tomorrow?',
    'Respond with yes, no or maybe. Do you like tea?',
    'Is it cold? Answer with yes, no or maybe.',
    'Just say yes, no or maybe.',
  ];
  const counts = new Map(['yes', 'no', 'maybe', 'other'].map((word) => [word, 0]));
  for (const [i, prompt] of prompts.entries()) {
    const seed = SEED + 1000 * i;
    const answers = await respondent.ask({ messages: [user(prompt)] }, { temperature: 1, n: WORD_SAMPLES, seed });
    for (const answer of answers) {
      const word = counts.has(answer) ? answer : 'other';
      counts.set(word, counts.get(word)! + 1);
    }
  }
  const total = prompts.length * WORD_SAMPLES;
  const share = (word: string): number => counts.get(word)! / total;
  const reward = share('yes') * 0.5 + share('no') * 0.75 + share('maybe');
  const shares = [...counts.keys()].map((word) => `${word} ${percent(share(word))}`).join(', ');
  return `"Answer with yes, no or maybe", at temperature 1: ${shares}. Rewards of 0.5, 0.75 and 1 have a mean of ${reward.toFixed(3)}.`;
}

function table(scores: readonly Score[]): string {
  const rows = scores.map(({ name, greedy, sampled }) => `| ${name} | ${percent(greedy)} | ${percent(sampled)} |`);
  return ['| skill | greedy | temperature 1 |', '| --- | ---: | ---: |', ...rows].join('\n');
}

async function main(): Promise<void> {
  const respondent = await openRespondent(options.model, Number(options.threads));
  const scores: Score[] = [];
  for (const skill of SKILLS) {
    scores.push(await measure(respondent, skill.name, (seed) => skill.probe(createRandom(seed))));
  }
  scores.push(await measure(respondent, '"What is a + b?", held-out pairs', additionProbe(true)));
  scores.push(await measure(respondent, '"What is a + b?", pairs of the corpus', additionProbe(false)));
  const words = await measureWords(respondent);
  await respondent.close();

  const sizes = `${probeCount} prompts per line, ${SAMPLES} samples each at temperature 1.`;
  const measured = `${table(scores)}\n\n${sizes} ${words}`;
  console.log(measured);
  const cardPath = join(options.model, 'README.md');
  const card = readFileSync(cardPath, 'utf8');
  const [before, after] = [card.split(MARKS[0])[0]!, card.split(MARKS[1])[1]!];
  writeFileSync(cardPath, `${before}${MARKS[0]}\n${measured}\n${MARKS[1]}${after}`);
}

await main();
