// Everything about a model directory that concerns text, and its makers' sampling defaults. Weights and shapes belong to the engine, which
// reads config.json itself.
import { join } from 'node:path';
import { systemClock, type Clock } from '#base/clock';
import type { AnswerParsers } from '#domain/answer-parsers';
import { AppError } from '#domain/errors';
import type { ChatTemplate } from './chat-template.ts';
import { findChatTemplate } from './chat-template-files.ts';
import { readGenerationDefaults, type GenerationDefaults } from './generation-defaults.ts';
import { createPrompts, type Prompts } from './prompts/prompts.ts';
import { findReasoningSyntax, reasoningSyntaxNamed, type ReasoningSyntax } from './reasoning-parser.ts';
import { refuseBadTokenIds } from './token-id-limits.ts';
import { refuseTokensWithoutRow } from './tokens-without-row.ts';
import { findToolSyntax, toolSyntaxNamed, type ToolSyntax } from './tool-parser.ts';
import { createTokenizer, type Tokenizer } from './tokenizer.ts';
import { findJson, readTokenizerFiles, type Json, type TokenizerFiles } from './tokenizer-files.ts';

export interface TextModel {
  readonly tokenizer: Tokenizer;
  /** Null: a model without a chat template. */
  readonly chatTemplate: ChatTemplate | null;
  readonly prompts: Prompts;
  /** The formats of calls and reasoning, from its chat template or the operator's choice; null: none. */
  readonly toolSyntax: ToolSyntax | null;
  readonly reasoningSyntax: ReasoningSyntax | null;
  /** bos_token, eos_token and the like, for templates. */
  readonly namedTokens: ReadonlyMap<string, string>;
  readonly generationDefaults: GenerationDefaults;
  /** Any of these ends a generation; the primary one comes first. */
  readonly eosTokenIds: readonly number[];
  /** tokenizer_config.json, or {}. */
  readonly tokenizerConfig: Json;
  /** Maximum tokens of prompt and completion together. */
  readonly contextLength: number;
}

/**
 * `clock` is for templates that write today's date; `parsers` override what the template implies; `template` is a file that replaces the
 * model's own template. Throws `bad_model_files`.
 */
export async function readTextModel(
  directory: string,
  clock: Clock = systemClock,
  parsers: AnswerParsers = { tools: null, reasoning: null },
  template: string | null = null,
): Promise<TextModel> {
  try {
    return await readFiles(directory, clock, parsers, template);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    // A value of another type than any known tokenizer has, or nested deeper than a stack.
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('bad_model_files', `The tokenizer files of ${directory} cannot be used: ${reason}.`, { cause });
  }
}

async function readFiles(
  directory: string,
  clock: Clock,
  parsers: AnswerParsers,
  template: string | null,
): Promise<TextModel> {
  const files = await readTokenizerFiles(directory);
  const config = await findJson(join(directory, 'config.json'));
  if (!config) throw new AppError('bad_model_files', `${directory} has no config.json.`);
  const generation = (await findJson(join(directory, 'generation_config.json'))) ?? {};
  refuseBadTokenIds({ files, config, generation }, directory);
  const tokenizer = createTokenizer(files, directory);
  const chatTemplate = await findChatTemplate(directory, files, clock, template);
  refuseTokensWithoutRow({ ...files, tokenizer, template: chatTemplate?.source ?? '' }, config, directory);
  return {
    tokenizer,
    chatTemplate,
    prompts: createPrompts({ directory, template }, { chatTemplate, tokenizer }),
    ...answerSyntaxes(chatTemplate?.source ?? null, parsers),
    namedTokens: files.namedTokens,
    generationDefaults: readGenerationDefaults(generation, directory),
    eosTokenIds: eosTokenIds(generation, config, files, tokenizer),
    tokenizerConfig: files.config,
    contextLength: contextLength(config, files.config, directory),
  };
}

function answerSyntaxes(
  templateSource: string | null,
  { tools, reasoning }: AnswerParsers,
): Pick<TextModel, 'toolSyntax' | 'reasoningSyntax'> {
  const found = <T>(find: (source: string) => T | null) => (templateSource === null ? null : find(templateSource));
  return {
    toolSyntax: tools === null ? found(findToolSyntax) : toolSyntaxNamed(tools, templateSource),
    reasoningSyntax: reasoning === null ? found(findReasoningSyntax) : reasoningSyntaxNamed(reasoning),
  };
}

/**
 * The primary one is the tokenizer's eos_token, which ends a turn; the others come from generation_config.json or, if there is none,
 * from config.json (Llama 3 names three there).
 */
function eosTokenIds(generation: Json, config: Json, files: TokenizerFiles, tokenizer: Tokenizer): number[] {
  const eosToken = files.namedTokens.get('eos_token');
  const primary = eosToken === undefined ? null : tokenizer.tokenId(eosToken);
  const listed = tokenIds(generation.eos_token_id);
  const others = listed.length > 0 ? listed : tokenIds(config.eos_token_id);
  return [...new Set(primary === null ? others : [primary, ...others])];
}

const tokenIds = (value: unknown): number[] =>
  (Array.isArray(value) ? (value as unknown[]) : [value]).filter((id): id is number => Number.isSafeInteger(id));

/** Tokenizers without a limit of their own have 1e30 here. */
function contextLength(config: Json, tokenizerConfig: Json, directory: string): number {
  const limits = [config.max_position_embeddings, tokenizerConfig.model_max_length].filter(
    (limit): limit is number => Number.isSafeInteger(limit) && (limit as number) > 0,
  );
  if (limits.length > 0) return Math.min(...limits);
  throw new AppError('bad_model_files', `Neither max_position_embeddings nor model_max_length is set in ${directory}.`);
}
