// Finds the chat templates of a model directory, where Transformers finds them: chat_template.jinja and additional_chat_templates/NAME.jinja,
// or else `chat_template` in tokenizer_config.json, which is one template or a list of named ones.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readBoundedText } from '#base/bounded-file';
import type { Clock } from '#base/clock';
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import { createChatTemplate, type ChatTemplate } from './chat-template.ts';
import type { TokenizerFiles } from './tokenizer-files.ts';

const ADDITIONAL = 'additional_chat_templates';
const ENDING = '.jinja';

/** `instead`, a file of the operator's, takes the place of all. Null: the model has none. */
export async function findChatTemplate(
  directory: string,
  { config, namedTokens }: TokenizerFiles,
  clock: Clock,
  instead: string | null = null,
): Promise<ChatTemplate | null> {
  if (instead !== null) return createChatTemplate({ default: await readTemplate(instead) }, namedTokens, clock);
  const sources = await findTemplates(directory, config);
  return sources ? createChatTemplate(sources, namedTokens, clock) : null;
}

/** By name, of which one is `default`. Null: there is none. */
export async function findTemplates(
  directory: string,
  config: TokenizerFiles['config'],
): Promise<Readonly<Record<string, string>> | null> {
  const files = await templateFiles(directory);
  return Object.keys(files).length > 0 ? files : configured(config.chat_template, directory);
}

async function templateFiles(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const main = await orNull(readBoundedText(join(directory, 'chat_template.jinja')));
  if (main !== null) found.default = main;
  const more = (await orNull(readdir(join(directory, ADDITIONAL)))) ?? [];
  for (const file of more.filter((name) => name.endsWith(ENDING)).sort())
    found[file.slice(0, -ENDING.length)] = await readTemplate(join(directory, ADDITIONAL, file));
  return found;
}

const orNull = <T>(reading: Promise<T>): Promise<T | null> =>
  reading.catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null;
    throw new AppError('bad_model_files', `Cannot read ${cause.path ?? 'the chat templates'}: ${cause.message}.`, {
      cause,
    });
  });

function readTemplate(path: string): Promise<string> {
  return readBoundedText(path).catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'ENOENT' ? 'there is no such file' : cause.message;
    throw new AppError('bad_model_files', `Cannot read the chat template ${path}: ${why}.`, { cause });
  });
}

function configured(value: unknown, directory: string): Readonly<Record<string, string>> | null {
  if (typeof value === 'string') return { default: value };
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) {
    const message = `chat_template in ${directory}/tokenizer_config.json must be a text or a list of named ones, not a ${typeof value}.`;
    throw new AppError('bad_model_files', message);
  }
  if (value.length === 0) return null;
  const entries = (value as unknown[]).map((item) => {
    if (isObject(item) && typeof item.name === 'string' && typeof item.template === 'string')
      return [item.name, item.template] as const;
    throw new AppError(
      'bad_model_files',
      `chat_template in ${directory}/tokenizer_config.json has an entry without name or template.`,
    );
  });
  return Object.fromEntries(entries);
}
