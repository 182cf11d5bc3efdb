// Finds the file for `owner/name:Q8_0`, and for `owner/name` alone, in a repository with several GGUF files: by the names of its
// files, like `llama-server -hf`. Does not look into the files.
import { AppError } from '#domain/errors';
import { isGguf } from '../foreign-formats.ts';
import type { HubModel } from '../hub-model.ts';
import { READABLE_TYPES } from './ggml-types.ts';

export interface GgufChoice {
  /** The path in the repository. */
  readonly file: string;
  /** The model's id in the API, so that adapters stay with the weights they were trained on. */
  readonly id: string;
}

/** A part of a name between dashes or dots that names a type; the last one counts. */
const TAG = /(?<=^|[-./])(?:UD-)?(?:I?Q\d\w*|TQ\d\w*|B?F16|FP16|F32|FP32|MXFP4\w*|NVFP4\w*)(?=[-.])/gi;
const PART = /-(\d{5})-of-(\d{5})\.gguf$/i;

/** llama.cpp's default if no tag is given. */
const FIRST_TAGS = ['Q4_K_M', 'Q8_0'];

/** `a-q4_k_m.gguf` → `Q4_K_M`. */
const tagOf = (file: string): string | null => file.match(TAG)?.at(-1)?.toUpperCase() ?? null;

/** Whether there is only GGUF: other weights in the repository would be preferred. */
export const isGgufRepository = (names: readonly string[]): boolean =>
  names.some(isGguf) && !names.some((name) => name.endsWith('.safetensors'));

/** Null: no file has this tag. Throws `bad_model_files` if several match, or only a part of one. */
export function findGguf(model: HubModel, names: readonly string[]): GgufChoice | null {
  const files = names.filter((name) => isGguf(name) && Number(PART.exec(name)?.[1] ?? 1) === 1).sort();
  const [file, ...more] = model.tag === null ? byPreference(files) : byTag(files, model.tag);
  if (file === undefined) return null;
  if (more.length > 0) throw severalMeant(model, [file, ...more]);
  if (PART.test(file)) throw inParts(model, file, files);
  const tag = tagOf(file);
  if (model.tag !== null && tag !== null && sameTag(tag, model.tag)) return { file, id: `${model.id}:${tag}` };
  if (model.tag !== null) return { file, id: `${model.id}:${file}` };
  return { file, id: tag === null ? model.id : `${model.id}:${tag}` };
}

/** Like `findGguf`; also throws `base_model_not_found`. */
export function getGguf(model: HubModel, names: readonly string[]): GgufChoice {
  const found = findGguf(model, names);
  if (found) return found;
  const tags = tagsOf(names.filter(isGguf));
  throw new AppError(
    'base_model_not_found',
    tags.length === 0
      ? `${model.id} has no GGUF file. Leave out :${model.tag}.`
      : `${model.id} has no GGUF file ${model.tag}. It has ${tags.join(', ')}.`,
  );
}

/** Readable alternatives to a file that cannot be read; empty if there are none. */
export function adviseReadable({ id }: HubModel, { file }: GgufChoice, names: readonly string[]): string {
  const others = tagsOf(names.filter((name) => isGguf(name) && isRead(name) && name !== file));
  return others.length === 0 ? '' : ` Supported files of ${id}: ${others.join(', ')}.`;
}

function byTag(files: readonly string[], tag: string): readonly string[] {
  const name = tag.toLowerCase();
  const named = files.filter((file) => [name, `${name}.gguf`].includes(file.toLowerCase()));
  return named.length > 0 ? named : ofTag(files, tag);
}

/** Files that are certainly readable come first. */
function byPreference(files: readonly string[]): readonly string[] {
  const read = files.filter(isRead);
  const all = read.length > 0 ? read : files;
  const tag = FIRST_TAGS.find((each) => ofTag(all, each).length > 0) ?? tagOf(all[0] ?? '');
  return tag === null ? all.filter((file) => tagOf(file) === null) : ofTag(all, tag);
}

/** `Q4_K_XL` also matches UD-Q4_K_XL, if there is no other. */
function ofTag(files: readonly string[], tag: string): readonly string[] {
  const exact = files.filter((file) => tagOf(file) === tag.toUpperCase());
  return exact.length > 0 ? exact : files.filter((file) => sameTag(tagOf(file) ?? '', tag));
}

const sameTag = (tag: string, other: string): boolean =>
  tag === other.toUpperCase() || tag === `UD-${other.toUpperCase()}`;

/** Judged by its name: a mixture such as Q4_K_M contains other types, which only its header lists. */
function isRead(file: string): boolean {
  const tag = tagOf(file)?.replace(/^UD-/, '').replace(/^FP/, 'F') ?? '';
  const types = [tag, tag.replace(/_[A-Z]+$/, '')]; // Q4_K_M is of Q4_K
  return !PART.test(file) && types.some((type) => READABLE_TYPES.includes(type));
}

/** The name to use for each file. */
const tagsOf = (files: readonly string[]): readonly string[] =>
  [...new Set(files.map((file) => tagOf(file) ?? file))].sort();

const severalMeant = ({ id }: HubModel, files: readonly string[]): AppError =>
  new AppError(
    'bad_model_files',
    `${id} has several matching GGUF files. Choose one of them: ${files.map((file) => `${id}:${file}`).join(', ')}.`,
  );

function inParts(model: HubModel, file: string, files: readonly string[]): AppError {
  const [, , count] = PART.exec(file)!;
  return new AppError(
    'bad_model_files',
    `${file} of ${model.id} is the first of ${Number(count)} parts, and a model in parts is not supported. Download the parts, join them with llama.cpp (llama-gguf-split --merge FIRST_PART whole.gguf) and use the joined file.${adviseReadable(model, { file, id: '' }, files)}`,
  );
}
