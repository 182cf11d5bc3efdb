// Trains the starter model's tokenizer on a sample of its world and writes every configuration file of the model.
//   node --import tsx -C source scripts/starter/train-tokenizer.ts [--out models/starter]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from '#base/random';
import { splitWords, trainMerges } from './byte-pair-encoding.ts';
import {
  ADDED_TOKENS,
  generationConfig,
  MERGE_COUNT_MAX,
  modelConfig,
  tokenizerConfig,
  tokenizerJson,
  vocabularyOf,
} from './model-files.ts';
import { renderPieces } from './render.ts';
import { reversed } from './world/letters.ts';
import { WORDS } from './world/words.ts';
import { SKILLS } from './world/world.ts';

const SEED = 1;
const CONVERSATIONS_PER_SKILL = 4000;

/** Reversed words are left out, so that the model writes them in small pieces and not as one remembered token. */
const unseen = new Set(WORDS.map(reversed).filter((word) => !WORDS.includes(word)));

export function countWords(): Map<string, number> {
  const counts = new Map<string, number>();
  const cut = new RegExp(ADDED_TOKENS.map((token) => token.replace(/[|/]/g, '\\$&')).join('|'));
  for (const skill of SKILLS) {
    const random = createRandom(SEED);
    for (let i = 0; i < CONVERSATIONS_PER_SKILL; i++) {
      for (const { text } of renderPieces(skill.converse(random))) {
        for (const word of text.split(cut).flatMap(splitWords)) {
          if (!unseen.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
        }
      }
    }
  }
  return counts;
}

function main(): void {
  const { values } = parseArgs({ options: { out: { type: 'string', default: 'models/starter' } } });
  const counts = countWords();
  const vocabulary = vocabularyOf(trainMerges(counts, MERGE_COUNT_MAX));
  const config = modelConfig(vocabulary);
  mkdirSync(values.out, { recursive: true });
  const write = (name: string, content: object) => {
    writeFileSync(join(values.out, name), JSON.stringify(content, null, 1) + '\n');
  };
  write('tokenizer.json', tokenizerJson(vocabulary));
  write('tokenizer_config.json', tokenizerConfig(config.max_position_embeddings));
  write('config.json', config);
  write('generation_config.json', generationConfig(vocabulary));
  console.log(`${counts.size} words, ${vocabulary.merges.length} merges, ${config.vocab_size} tokens`);
}

if (process.argv[1]?.endsWith('train-tokenizer.ts')) main();
