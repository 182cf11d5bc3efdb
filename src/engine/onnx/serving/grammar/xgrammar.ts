// The grammar library, for one thread. It aborts on bad input and prints why: what it printed last becomes the error. After
// an abort its memory is in doubt, so the thread that sees one should not be used again.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Constraint } from '#domain/constraint';
import type { CompiledGrammar, GrammarCompiler, TokenizerInfo } from '@mlc-ai/web-xgrammar';
import type { ThreadData, VocabularyBytes } from './thread-messages.ts';

type Library = typeof import('@mlc-ai/web-xgrammar');

export interface OpenGrammarLibrary {
  readonly library: Library;
  compile(constraint: Constraint): Promise<CompiledGrammar>;
}

export async function openXgrammar({ vocabulary, vocabSize, stopTokenIds }: ThreadData): Promise<OpenGrammarLibrary> {
  const printed: string[] = [];
  const library = await importLibrary(printed);
  const tokens = byteLevelTokens(vocabulary);
  const info: TokenizerInfo = await library.TokenizerInfo.createTokenizerInfo(tokens, 'byte_level', false, vocabSize, [
    ...stopTokenIds,
  ]);
  const compiler = await library.GrammarCompiler.createGrammarCompiler(info, false);
  return {
    library,
    async compile(constraint) {
      printed.length = 0;
      try {
        return await compile(library, compiler, constraint);
      } catch (cause) {
        throw new Error(reason(printed) ?? (cause instanceof Error ? cause.message : String(cause)), { cause });
      }
    },
  };
}

async function compile(library: Library, compiler: GrammarCompiler, constraint: Constraint): Promise<CompiledGrammar> {
  const { kind, source } = constraint;
  if (kind === 'ebnf') return compiler.compileGrammar(source);
  if (kind === 'structural_tag') return compiler.compileStructuralTag(await withGrammars(library, JSON.parse(source)));
  if (kind === 'regex') return compiler.compileStructuralTag(regexTag(source));
  const { anyWhitespace, whitespacePattern, strict } = constraint;
  if (whitespacePattern !== null)
    return compiler.compileGrammar(await withWhitespace(library, source, whitespacePattern, strict));
  const separators: [string, string] | undefined = anyWhitespace ? undefined : [',', ':'];
  return compiler.compileJSONSchema(source, anyWhitespace, undefined, separators, strict, WHITESPACE_MAX);
}

/** Between two elements of JSON: enough to indent deep objects; without a bound a model may go on with spaces for ever. */
const WHITESPACE_MAX = 32;

/** Schemas inside a structural tag as grammars, whose white space has a bound. */
async function withGrammars(library: Library, part: unknown): Promise<Record<string, unknown>> {
  return (await mapParts(part, async (format) => {
    if (format.type !== 'json_schema') return format;
    const schema = JSON.stringify(format.json_schema);
    const grammar = await library.Testings._jsonSchemaToEBNF(schema, true, undefined, undefined, false, WHITESPACE_MAX);
    return { type: 'grammar', grammar };
  })) as Record<string, unknown>;
}

async function mapParts(
  part: unknown,
  change: (format: Record<string, unknown>) => Promise<unknown>,
): Promise<unknown> {
  if (Array.isArray(part)) return Promise.all(part.map((item) => mapParts(item, change)));
  if (typeof part !== 'object' || part === null) return part;
  if ('json_schema' in part) return change(part);
  const entries = Object.entries(part).map(async ([key, value]) => [key, await mapParts(value, change)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

const regexTag = (pattern: string) => ({ type: 'structural_tag', format: { type: 'regex', pattern } });

/** The library's white space, as its grammars write it. */
const ANY_WHITESPACE = '[ \\n\\t]*';

/** The schema's grammar, with the pattern's in place of the library's white space. */
async function withWhitespace(library: Library, schema: string, pattern: string, strict: boolean): Promise<string> {
  const json = await library.Testings._jsonSchemaToEBNF(schema, true, undefined, undefined, strict);
  const space = (await library.Grammar.fromStructuralTag(regexTag(pattern))).toString();
  const lookahead = /\(= \[ \\n\\t\]\* \[,\}\\\]:\]\)/g; // a hint for speed that assumes the other white space
  return [
    json.replace(lookahead, '').replaceAll(ANY_WHITESPACE, 'white_space'),
    space.replace(/\broot(\w*)\b(?=(?:[^"]*"[^"]*")*[^"]*$)/gm, 'white_space$1'),
  ].join('\n');
}

/** `[FATAL] …/json_schema_converter.cc:902: Unsupported type "x"` → what it says. */
function reason(printed: readonly string[]): string | null {
  const fatal = printed.findLast((line) => line.includes('[FATAL]'));
  return fatal?.replace(/^.*?\.cc:\d+: (?:Check failed: \(.*?\) is false: )?/, '') ?? null;
}

/** UMD marked as ESM: it looks for the globals of a CommonJS module, and leaves itself among them. */
async function importLibrary(printed: string[]): Promise<Library> {
  const print = (...words: unknown[]) => {
    printed.push(words.join(' '));
    if (printed.length > 100) printed.shift();
  };
  // This thread has nothing else to say: what the library prints is read here.
  Object.assign(console, { log: print, warn: print, error: print });
  const here = fileURLToPath(import.meta.url);
  const globals = { require: createRequire(here), __filename: here, __dirname: here };
  Object.assign(globalThis, globals, { module: undefined, exports: undefined }); // a thread from source text has those
  await import('@mlc-ai/web-xgrammar');
  return (globalThis as unknown as { xgrammar: Library }).xgrammar;
}

/** Arbitrary bytes as text that survives: GPT-2's table, in which each byte is one printable character. */
function byteLevelTokens({ bytes, offsets }: VocabularyBytes): string[] {
  const prints = (byte: number) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte !== 0xad);
  let next = 0x100;
  const table = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(prints(byte) ? byte : next++));
  return Array.from({ length: offsets.length - 1 }, (_, id) =>
    Array.from(bytes.subarray(offsets[id], offsets[id + 1]), (byte) => table[byte]!).join(''),
  );
}
