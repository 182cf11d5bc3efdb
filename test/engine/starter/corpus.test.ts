// The starter's corpus: reproducible, without held-out pairs, and rendered exactly as the service will render a prompt.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { readTextModel } from '#text/text-model';
import { corpusRows, tokenizeConversation, type CorpusRow } from '../../../scripts/starter/make-corpus.ts';
import { createStarterEncoder, parseVocabulary, ROW_LENGTH } from '../../../scripts/starter/model-files.ts';
import { renderPieces } from '../../../scripts/starter/render.ts';
import { skillLoss, withLossInputs } from '../../../scripts/starter/skill-loss.ts';
import { drawPair, isHeldOutPair, LARGEST_ADDEND } from '../../../scripts/starter/world/addition.ts';
import { SKILLS } from '../../../scripts/starter/world/world.ts';

const vocabulary = parseVocabulary(readFileSync('models/starter/tokenizer.json', 'utf8'));
const encode = createStarterEncoder(vocabulary);
const padToken = vocabulary.added['<|endoftext|>']!;
const { tokenizer, chatTemplate } = await readTextModel('models/starter');

function rows(seed: number, count: number): CorpusRow[] {
  const stream = corpusRows(seed, encode, padToken);
  return Array.from({ length: count }, () => stream.next().value);
}

test('one seed makes one corpus, another seed another', () => {
  expect(rows(5, 20)).toEqual(rows(5, 20));
  expect(rows(5, 1)).not.toEqual(rows(6, 1));
});

test('no held-out pair is added anywhere in the corpus, in either order', () => {
  const random = createRandom(3);
  const sums = /(\d+)\s*(?:\+|plus|and)\s*(\d+)/g;
  let [found, heldOut] = [0, 0];
  for (const skill of SKILLS) {
    for (let i = 0; i < 3000; i++) {
      const { messages, tools } = skill.converse(random);
      const text = messages.map((message) => JSON.stringify(message)).join('\n') + JSON.stringify(tools ?? []);
      for (const [, a, b] of text.matchAll(sums)) {
        found++;
        const small = Number(a) <= LARGEST_ADDEND && Number(b) <= LARGEST_ADDEND;
        if (small && isHeldOutPair(Number(a), Number(b))) heldOut++;
      }
    }
  }
  expect(found).toBeGreaterThan(5000);
  expect(heldOut).toBe(0);
});

test('a fifth of the pairs is held out, in both orders, and every combination of last digits is learnt', () => {
  let count = 0;
  const lastDigits = new Set<string>();
  for (let a = 0; a <= LARGEST_ADDEND; a++) {
    for (let b = 0; b <= LARGEST_ADDEND; b++) {
      expect(isHeldOutPair(a, b)).toBe(isHeldOutPair(b, a));
      if (isHeldOutPair(a, b)) count++;
      else lastDigits.add(`${a % 10} ${b % 10}`);
    }
  }
  expect(count / (LARGEST_ADDEND + 1) ** 2).toBeGreaterThan(0.17);
  expect(count / (LARGEST_ADDEND + 1) ** 2).toBeLessThan(0.23);
  expect(lastDigits.size).toBe(100);
  expect(isHeldOutPair(...drawPair(createRandom(1), true))).toBe(true);
  expect(isHeldOutPair(...drawPair(createRandom(1), false))).toBe(false);
});

test('a conversation is rendered as the chat template renders it, and its answers follow the prompts of the service', () => {
  const random = createRandom(11);
  for (const skill of SKILLS) {
    for (let i = 0; i < 60; i++) {
      const conversation = skill.converse(random);
      const { messages, tools } = conversation;
      const pieces = renderPieces(conversation);
      const whole = chatTemplate!.render({ messages, tools, addGenerationPrompt: false });
      expect(pieces.map(({ text }) => text).join('')).toBe(whole);

      const { tokens } = tokenizeConversation(encode, conversation, 0);
      expect(tokens).toEqual(tokenizer.encode(whole));
      messages.forEach((message, at) => {
        if (message.role !== 'assistant') return;
        const prompt = chatTemplate!.render({ messages: messages.slice(0, at), tools, addGenerationPrompt: true });
        const ids = tokenizer.encode(prompt);
        expect(tokens.slice(0, ids.length)).toEqual(ids);
      });
    }
  }
});

test('every skill gets its share of the tokens, and rows are nearly full', () => {
  const sample = rows(1, 400);
  const seen = SKILLS.map(() => 0);
  let tokenCount = 0;
  for (const { row, skillIndexes, tokenCount: used } of sample) {
    tokenCount += used;
    // all tokens of a segment belong to one skill
    const skillOf = new Map(Array.from(row.sequenceIds, (segment, t) => [segment, skillIndexes[t]!]));
    for (let i = 0; i < used; i++) seen[skillOf.get(row.segments[i]!)!]!++;
  }
  SKILLS.forEach(({ share }, i) => expect(Math.abs(seen[i]! / tokenCount - share)).toBeLessThan(0.02));
  expect(SKILLS.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  expect(tokenCount / (sample.length * ROW_LENGTH)).toBeGreaterThan(0.95);
});

test('targets are the next tokens of the same conversation, and positions start again with each', () => {
  for (const { row } of rows(2, 50)) {
    expect(row.tokens).toHaveLength(ROW_LENGTH);
    row.predictFrom.forEach((from, t) => {
      expect(row.targets[t]).toBe(row.tokens[from + 1]);
      expect(row.segments[from + 1]).toBe(row.segments[from]);
      expect(row.sequenceIds[t]).toBe(row.segments[from]);
    });
    for (let i = 0; i < ROW_LENGTH; i++) {
      const isFirst = i === 0 || row.segments[i] !== row.segments[i - 1];
      expect(row.positions[i]).toBe(isFirst ? 0 : row.positions[i - 1]! + 1);
    }
    expect(row.parents).toHaveLength(row.segments.at(-1)! + 1);
  }
});

test('the weights of a batch sum to 1, and each skill averages over its own answers', () => {
  const batch = rows(4, 8);
  const prepared = withLossInputs(batch);
  const total = (name: string): number =>
    prepared.reduce((sum, { inputs }) => sum + inputs[name]!.reduce((a, b) => a + b, 0), 0);
  const trainedCount = prepared.reduce((sum, { targets }) => sum + targets.length, 0);
  expect(total('weights')).toBeCloseTo(1, 4);
  expect(Object.keys(skillLoss.metrics)).toEqual(SKILLS.map(({ name }) => name));
  expect(total('skill0') / trainedCount).toBeCloseTo(1, 4);
});
