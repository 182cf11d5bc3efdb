// The starter's tokenizer files: made by the script in the repo, and read alike by the service and by the corpus.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { readTextModel } from '#text/text-model';
import { trainMerges } from '../../../scripts/starter/byte-pair-encoding.ts';
import {
  createStarterEncoder,
  generationConfig,
  MERGE_COUNT_MAX,
  modelConfig,
  parseVocabulary,
  tokenizerConfig,
  tokenizerJson,
  vocabularyOf,
} from '../../../scripts/starter/model-files.ts';
import { renderPieces } from '../../../scripts/starter/render.ts';
import { countWords } from '../../../scripts/starter/train-tokenizer.ts';
import { SKILLS } from '../../../scripts/starter/world/world.ts';

const read = (name: string): string => readFileSync(`models/starter/${name}`, 'utf8');
const { tokenizer, eosTokenIds, contextLength } = await readTextModel('models/starter');

const STRANGE_TEXTS = [
  '',
  'What is 23 + 41?',
  'Grüße, 東京! 🙂 \u00a0\n\n  two  spaces\tand a tab\r\n',
  '{"name": "Ada", "age": 36}',
  "it's 2026: don't-stop_now…",
  '<|im_start|>user\nHi<|im_end|>\n<tool_call>\n{}\n</tool_call>',
];

test('every file of models/starter equals the output of the scripts', () => {
  const vocabulary = vocabularyOf(trainMerges(countWords(), MERGE_COUNT_MAX));
  const config = modelConfig(vocabulary);
  expect(JSON.parse(read('tokenizer.json'))).toEqual(tokenizerJson(vocabulary));
  expect(JSON.parse(read('config.json'))).toEqual(config);
  expect(JSON.parse(read('generation_config.json'))).toEqual(generationConfig(vocabulary));
  expect(JSON.parse(read('tokenizer_config.json'))).toEqual(tokenizerConfig(config.max_position_embeddings));
});

test('the service and the corpus give a text the same ids, and the ids give the text back', () => {
  const encode = createStarterEncoder(parseVocabulary(read('tokenizer.json')));
  const random = createRandom(7);
  const spoken = SKILLS.flatMap((skill) =>
    Array.from({ length: 30 }, () =>
      renderPieces(skill.converse(random))
        .map(({ text }) => text)
        .join(''),
    ),
  );
  for (const text of [...STRANGE_TEXTS, ...spoken]) {
    const ids = tokenizer.encode(text);
    expect(encode(text)).toEqual(ids);
    expect(tokenizer.decode(ids, { skipSpecialTokens: false })).toBe(text);
  }
});

test('digits are tokens of their own', () => {
  const ids = tokenizer.encode('2026');
  expect(ids.map((id) => tokenizer.tokenText(id))).toEqual(['2', '0', '2', '6']);
});

test('a turn ends with <|im_end|> or <|endoftext|>, and both fit the model', () => {
  expect(eosTokenIds.map((id) => tokenizer.tokenText(id))).toEqual(['<|im_end|>', '<|endoftext|>']);
  expect(tokenizer.vocabSize).toBe((JSON.parse(read('config.json')) as { vocab_size: number }).vocab_size);
  expect(contextLength).toBe(1024);
});
