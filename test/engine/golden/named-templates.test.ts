// Which of a model's templates is used, as Transformers chooses it (python/golden/make_named_templates.py). Where Transformers could not
// render a request without a name, the model is refused when it is loaded.
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#base/clock';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import { exportMerged } from '#model-files/export-merged';
import { tokenizerMetadata } from '#model-files/gguf/tokenizer-metadata';
import { findChatTemplate } from '#text/chat-template-files';
import { openModelFixture, readFixture } from '../../support/golden/fixture.ts';
import { STARTER_DIRECTORY } from '#config/starter-directory';

type Files = Readonly<Record<string, string | Readonly<Record<string, unknown>>>>;

const fixture = readFixture<{
  readonly messages: readonly ChatMessage[];
  readonly requests: readonly { readonly tools?: readonly ToolDefinition[]; readonly chat_template?: string }[];
  readonly cases: readonly (readonly [files: Files, texts: readonly (string | null)[]])[];
}>('templates/named.json');

async function written(files: Files): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'named-templates-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return directory;
}

test.each(fixture.cases)('%j', async (files, expected) => {
  const config = (files['tokenizer_config.json'] ?? {}) as Readonly<Record<string, unknown>>;
  const tokenizer = { tokenizer: {}, config, addedTokens: [], namedTokens: new Map<string, string>() };
  const found = findChatTemplate(await written(files), tokenizer, systemClock);
  if (expected[0] === null) {
    await expect(found).rejects.toThrow(/one must be named default\. .*--chat-template FILE/);
    return;
  }
  const template = (await found)!;
  for (const [i, { tools, chat_template: name }] of fixture.requests.entries()) {
    if (expected[i] === name) continue; // Transformers has no template of this name, and takes it for the text of one
    const text = template.render({ messages: fixture.messages, tools, template: name, addGenerationPrompt: false });
    expect(text, JSON.stringify(fixture.requests[i])).toBe(expected[i]);
  }
});

const FILES = { 'chat_template.jinja': 'A', 'additional_chat_templates/rag.jinja': 'B' };

test('a GGUF file has all templates', async () => {
  const tokenizer = await readFile(join(STARTER_DIRECTORY, 'tokenizer.json'), 'utf8');
  const directory = await written({ ...FILES, 'tokenizer.json': tokenizer });
  expect(await tokenizerMetadata(directory, 5_000)).toMatchObject({
    'tokenizer.chat_template': { value: 'A' },
    'tokenizer.chat_template.rag': { value: 'B' },
  });
});

test('a merged model has all templates', async () => {
  const base = (await openModelFixture('qwen3')).model;
  const names = (await readdir(base)).filter((name) => !name.endsWith('.jinja'));
  const directory = await written(FILES);
  for (const name of names) await copyFile(join(base, name), join(directory, name));
  const out = join(directory, 'merged');
  await exportMerged({ base: directory, adapter: (await openModelFixture('qwen3')).adapter, out, dtype: 'F32' });
  expect(await readdir(join(out, 'additional_chat_templates'))).toEqual(['rag.jinja']);
});
