// The corpus as an endless seeded stream: conversations in the proportions of the world's skills, packed into rows of equal length,
// nothing on disk. The loss weighs the assistant's text with 1 and other text a little, so that copying and grammar are learned from
// every token. Run as a program it prints a sample:
//   node --import tsx -C source scripts/starter/make-corpus.ts [--seed 1] [--count 20]
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createRandom } from '#base/random';
import type { TrainingRow } from '#engine/training-engine';
import type { Encode } from './byte-pair-encoding.ts';
import { createStarterEncoder, parseVocabulary, ROW_LENGTH } from './model-files.ts';
import { renderPieces } from './render.ts';
import type { Conversation } from './world/skill.ts';
import { SKILLS } from './world/world.ts';

const CONTEXT_WEIGHT = 0.1;
/** Conversations that wait for a row with enough room; more of them fill rows better. */
const WAITING_MAX = 24;

export interface TokenizedConversation {
  readonly skillIndex: number;
  readonly tokens: readonly number[];
  /** `[tokens]` weight of the loss on each token; 0 for none. */
  readonly weights: readonly number[];
}

export interface CorpusRow {
  readonly row: TrainingRow;
  /** `[trained]` index into SKILLS. */
  readonly skillIndexes: Uint8Array;
  /** Tokens that are not padding. */
  readonly tokenCount: number;
}

export function tokenizeConversation(
  encode: Encode,
  conversation: Conversation,
  skillIndex: number,
): TokenizedConversation {
  const tokens: number[] = [];
  const weights: number[] = [];
  for (const { text, kind } of renderPieces(conversation)) {
    const ids = encode(text);
    const weight = kind === 'answer' ? 1 : kind === 'context' ? CONTEXT_WEIGHT : 0;
    tokens.push(...ids);
    weights.push(...ids.map(() => weight));
  }
  return { skillIndex, tokens, weights };
}

/** Endless. The skill furthest below its share of tokens comes next; conversations longer than a row are left out. */
function* conversations(seed: number, encode: Encode): Generator<TokenizedConversation, never> {
  const random = createRandom(seed);
  const tokenCounts = SKILLS.map(() => 0);
  for (;;) {
    const progress = SKILLS.map(({ share }, i) => (tokenCounts[i]! + random.integer(200)) / share);
    const skillIndex = progress.indexOf(Math.min(...progress));
    const conversation = tokenizeConversation(encode, SKILLS[skillIndex]!.converse(random), skillIndex);
    if (conversation.tokens.length > ROW_LENGTH) continue;
    tokenCounts[skillIndex]! += conversation.tokens.length;
    yield conversation;
  }
}

/** Endless; every row has ROW_LENGTH tokens, the rest after the last conversation that fits is padding. */
export function* corpusRows(seed: number, encode: Encode, padToken: number): Generator<CorpusRow, never> {
  const stream = conversations(seed, encode);
  const waiting: TokenizedConversation[] = [];
  for (;;) {
    const members: TokenizedConversation[] = [];
    let room = ROW_LENGTH;
    for (;;) {
      while (waiting.length < WAITING_MAX) waiting.push(stream.next().value);
      const fitting = waiting.findIndex(({ tokens }) => tokens.length <= room);
      if (fitting < 0) break;
      const [member] = waiting.splice(fitting, 1);
      members.push(member!);
      room -= member!.tokens.length;
    }
    yield packRow(members, padToken);
  }
}

function packRow(members: readonly TokenizedConversation[], padToken: number): CorpusRow {
  const tokens = new Int32Array(ROW_LENGTH).fill(padToken);
  const positions = new Int32Array(ROW_LENGTH);
  const segments = new Int32Array(ROW_LENGTH).fill(members.length); // padding is a segment of its own
  const predictFrom: number[] = [];
  const sequenceIds: number[] = [];
  const weights: number[] = [];
  const skillIndexes: number[] = [];
  let start = 0;
  for (const [segment, member] of members.entries()) {
    for (const [position, token] of member.tokens.entries()) {
      tokens[start + position] = token;
      positions[start + position] = position;
      segments[start + position] = segment;
      const weight = member.weights[position]!;
      if (weight === 0 || position === 0) continue;
      predictFrom.push(start + position - 1);
      sequenceIds.push(segment);
      weights.push(weight);
      skillIndexes.push(member.skillIndex);
    }
    start += member.tokens.length;
  }
  for (let i = start; i < ROW_LENGTH; i++) positions[i] = i - start;
  const row: TrainingRow = {
    tokens,
    positions,
    segments,
    parents: new Int32Array(members.length + (start < ROW_LENGTH ? 1 : 0)).fill(-1),
    predictFrom: Int32Array.from(predictFrom),
    targets: Int32Array.from(predictFrom, (index) => tokens[index + 1]!),
    sequenceIds: Int32Array.from(sequenceIds),
    inputs: { weights: Float32Array.from(weights) },
  };
  return { row, skillIndexes: Uint8Array.from(skillIndexes), tokenCount: start };
}

function main(): void {
  const { values } = parseArgs({
    options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '20' } },
  });
  const vocabulary = parseVocabulary(readFileSync('models/starter/tokenizer.json', 'utf8'));
  const random = createRandom(Number(values.seed));
  for (let i = 0; i < Number(values.count); i++) {
    const skill = SKILLS[i % SKILLS.length]!;
    const pieces = renderPieces(skill.converse(random));
    console.log(`--- ${skill.name}\n${pieces.map(({ text }) => text).join('')}`);
  }
  const rows = corpusRows(Number(values.seed), createStarterEncoder(vocabulary), 0);
  const counts = SKILLS.map(() => ({ trained: 0 }));
  let tokens = 0;
  for (let i = 0; i < 1000; i++) {
    const { row, skillIndexes, tokenCount } = rows.next().value;
    tokens += tokenCount;
    skillIndexes.forEach((skill, t) => (counts[skill]!.trained += row.inputs.weights![t]! === 1 ? 1 : 0));
  }
  console.log(`rows are ${((tokens / 1000 / ROW_LENGTH) * 100).toFixed(1)} % full; answer tokens per row:`);
  SKILLS.forEach(({ name }, i) => console.log(`  ${name}: ${(counts[i]!.trained / 1000).toFixed(1)}`));
}

if (process.argv[1]?.endsWith('make-corpus.ts')) main();
