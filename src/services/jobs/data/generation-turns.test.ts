// What `{% generation %}` blocks train: in a conversation all that they hold, as in Transformers; behind a prompt only what follows it. And
// where a turn ends if the template writes more behind it.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readPreferencePair } from '#rows/dpo';
import { readSftLine } from '#rows/sft';
import { createChatTemplate } from '#text/chat-template';
import { tokenTexts } from '#text/detokenizer';
import { readTextModel } from '#text/text-model';
import { tokenizePair } from '#training/dpo-rows';
import { tokenizeSftRow } from '#training/sft-rows';
import { tokenizeHistory } from '#training/tokenize';
import type { TokenSequence } from '#training/token-sequence';
import { createConversationEncoder } from './conversation-encoder.ts';

const text = await readTextModel(fileURLToPath(new URL('../../../../models/starter', import.meta.url)));
const said = (role: string, content: string) => ({ role, content });
const [question, answer] = [said('user', 'Hi'), said('assistant', 'Yo')];

/** A template that writes a turn of the assistant like this, in ChatML. */
function encoderOf(turn: string, after = '') {
  const source = `{% for m in messages %}{% if m.role == 'assistant' %}${turn}{% else %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}${after}`;
  const chatTemplate = createChatTemplate({ default: source }, new Map(), { now: () => 0 });
  return createConversationEncoder('m', { ...text, chatTemplate }, text.tokenizer.vocabSize);
}

/** SmolLM3's: the block has the header and the line break. */
const WHOLE = "{% generation %}{{ '<|im_start|>assistant\\n' + m.content + '<|im_end|>\\n' }}{% endgeneration %}";
const GAPS =
  "{{ '<|im_start|>assistant\\n' }}{% generation %}{{ m.content }}{% endgeneration %}{{ '(gap)' }}{% generation %}{{ '!<|im_end|>' }}{% endgeneration %}{{ '\\n' }}";

const textOf = (ids: readonly number[]): string => tokenTexts(text.tokenizer, ids).join('');
const trainedTexts = (sequences: readonly TokenSequence[]): string[] =>
  sequences.map(({ tokens, trained }) => textOf([...tokens].filter((_, i) => trained[i] === 1)));

async function sft(row: object, encoder: ReturnType<typeof encoderOf>): Promise<string[]> {
  const read = readSftLine(JSON.stringify(row));
  if ('problem' in read) throw new Error(read.problem);
  return trainedTexts((await tokenizeSftRow(read.row, encoder, 'all')).sequences);
}

test('a block with the header and the line break of a turn is trained as a whole in a conversation', async () => {
  const turn = '<|im_start|>assistant\nYo<|im_end|>\n';
  expect(await sft({ messages: [question, answer, question, answer] }, encoderOf(WHOLE))).toEqual([turn + turn]);
});

test('behind a prompt, a block is trained from where the prompt ends through the end of the turn', async () => {
  const encoder = encoderOf(WHOLE);
  expect(await sft({ prompt: [question], completion: [answer] }, encoder)).toEqual(['Yo<|im_end|>']);
  const pair = { prompt: [question], chosen: [answer], rejected: [said('assistant', 'No')] };
  const read = readPreferencePair(JSON.stringify(pair));
  if ('problem' in read) throw new Error(read.problem);
  const { sequences } = await tokenizePair(read.row, encoder);
  expect(trainedTexts(sequences)).toEqual(['Yo<|im_end|>', 'No<|im_end|>']);
});

test('what stands between the blocks of a turn is context, in rollouts too', async () => {
  const encoder = encoderOf(GAPS);
  expect(await sft({ messages: [question, answer] }, encoder)).toEqual(['Yo!<|im_end|>']);
  const turns = [question, answer].map((message) => ({ kind: 'message', message }) as const);
  const { sequences } = await tokenizeHistory({ turns, tools: null }, encoder, 'all');
  expect(trainedTexts(sequences)).toEqual(['Yo!<|im_end|>']);
  expect(textOf([...sequences[0]!.tokens])).toContain('Yo(gap)!<|im_end|>');
});

test('a turn that is refused as the last one is trained within its blocks', async () => {
  const last = "{% if loop.last and m.content == 'A call' %}{{ raise_exception('no') }}{% endif %}";
  const encoder = encoderOf(last + WHOLE);
  const messages = [question, said('assistant', 'A call'), said('tool', '4'), answer];
  expect(await sft({ messages }, encoder)).toEqual([
    '<|im_start|>assistant\nA call<|im_end|>\n<|im_start|>assistant\nYo<|im_end|>\n',
  ]);
});

test('a turn ends with its stop, whatever the template writes behind the last one', async () => {
  const plain = "{{ '<|im_start|>assistant\\n' + m.content + '<|im_end|>\\n' }}";
  const encoder = encoderOf(plain, '{% if not add_generation_prompt %}[END]{% endif %}');
  expect(await sft({ messages: [question, answer] }, encoder)).toEqual(['Yo<|im_end|>']);
  const own = said('assistant', 'Yo<|im_end|>\n[END]');
  expect(await sft({ messages: [question, own] }, encoder)).toEqual(['Yo<|im_end|>\n[END]<|im_end|>']);
});
