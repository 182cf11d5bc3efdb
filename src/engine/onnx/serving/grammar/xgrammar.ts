// The grammar library, for one thread. It aborts on bad input and prints why: what it printed last becomes the error. After
// an abort its memory is in doubt, so the thread that sees one should not be used again.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { CompiledGrammar, GrammarCompiler, TokenizerInfo } from '@mlc-ai/web-xgrammar';
import type { ThreadConstraint, ThreadData, VocabularyBytes } from './thread-messages.ts';

type Library = typeof import('@mlc-ai/web-xgrammar');

export interface OpenGrammarLibrary {
  readonly library: Library;
  compile(constraint: ThreadConstraint): Promise<CompiledGrammar>;
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
        return await compile(compiler, constraint);
      } catch (cause) {
        throw new Error(reason(printed) ?? (cause instanceof Error ? cause.message : String(cause)), { cause });
      }
    },
  };
}

function compile(compiler: GrammarCompiler, { kind, source }: ThreadConstraint): Promise<CompiledGrammar> {
  if (kind === 'ebnf') return compiler.compileGrammar(source);
  if (kind === 'structural_tag') return compiler.compileStructuralTag(source);
  return compiler.compileStructuralTag({ type: 'structural_tag', format: { type: 'regex', pattern: source } });
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
