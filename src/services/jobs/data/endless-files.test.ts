// Model files whose text never gets ready: loading the model says so in time.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { systemClock } from '#base/clock';
import { createChatTemplate } from '#text/chat-template';
import { readTextModel } from '#text/text-model';
import { createTokenizer } from '#text/tokenizer';
import { readTokenizerFiles } from '#text/tokenizer-files';
import { createConversationEncoder } from './conversation-encoder.ts';

const DIRECTORY = fileURLToPath(new URL('../../../../models/starter', import.meta.url));
const text = await readTextModel(DIRECTORY);
const templateOf = (source: string) => createChatTemplate({ default: source }, new Map(), systemClock);

test.each([
  ['loops in loops', '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}', /20000000 steps/],
  ['a text that doubles', '{% set n = namespace(s="xx") %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}', /200000000 characters/],
  ['calls of itself', '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}', /levels|deep|recursion/i],
])('a template of a model that never ends is refused when the model is loaded, with its cause: %s', (_, source, cause) => {
  const beganMs = performance.now();
  const load = () => createConversationEncoder('m', { ...text, chatTemplate: templateOf(source) }, 484);
  expect(load).toThrow(expect.objectContaining({ code: 'bad_model_files', message: expect.stringMatching(cause) as string }));
  expect(performance.now() - beganMs).toBeLessThan(30_000);
}); // prettier-ignore

test('an expression of its tokenizer that backtracks without end is, too', async () => {
  const files = await readTokenizerFiles(DIRECTORY);
  const pre_tokenizer = { type: 'Split', pattern: { Regex: '(x+x+)+y|.' }, behavior: 'Isolated', invert: false };
  const tokenizer = createTokenizer({ ...files, tokenizer: { ...files.tokenizer, pre_tokenizer } }, DIRECTORY);
  const chatTemplate = templateOf(
    `{% for m in messages %}{{ m.content }}${'x'.repeat(60)}{% if not loop.last %}.{% endif %}{% endfor %}`,
  );
  const load = () => createConversationEncoder('m', { ...text, tokenizer, chatTemplate }, 484);
  expect(load).toThrow(
    expect.objectContaining({
      code: 'bad_model_files',
      message: expect.stringMatching(/takes too many steps for this text: \(x\+x\+\)\+y/) as string,
    }),
  );
});
