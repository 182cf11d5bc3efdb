// Training data of an SFT or DPO job: which file of an artifact it is, and its rows, one at a time, since the file may be larger than
// memory. All of it is read before training starts, so that invalid lines are reported together and nothing is half trained.
import { createYielder } from '#base/yield-to-loop';
import type { ArtifactVersion } from '#domain/artifact';
import { AppError } from '#domain/errors';
import type { DatasetVersion, ReadLine, UnusedField } from '#domain/sft';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { findArtifactFile } from '../../artifacts/artifact-content.ts';
import { splitLines } from '#base/lines';

/** File names that clients upload, and that the hosted service documents. */
const FILES = ['train.jsonl', 'trajectories.jsonl'];
const PROBLEMS_SHOWN = 20;
/** A row is parsed at once. The longest conversations have a few megabytes. */
export const LINE_BYTES_MAX = 16_000_000;

/** Throws `invalid_request` if no file, or more than one, could be the training data. */
export function datasetFile({ name, version, files }: ArtifactVersion): string {
  const known = FILES.find((path) => files.some((file) => file.path === path));
  if (known !== undefined) return known;
  const lines = files.filter(({ path }) => path.endsWith('.jsonl'));
  if (lines.length === 1) return lines[0]!.path;
  throw new AppError(
    'invalid_request',
    `${name}:v${version} has no training data: it needs a file ${FILES.join(' or ')} with one row per line. ` +
      `It has ${files
        .map(({ path }) => path)
        .slice(0, 10)
        .join(', ')}.`,
    { param: 'training_data_url' },
  );
}

/** Throws `artifact_not_found` if it was deleted. */
export async function readDataset(
  { storage, blobs }: { storage: Storage; blobs: BlobStore },
  dataset: DatasetVersion,
): Promise<AsyncIterable<Uint8Array>> {
  const artifact = await storage.artifacts.find(dataset, { version: dataset.version });
  const opened = artifact && (await findArtifactFile({ storage, blobs }, artifact, dataset.path));
  if (opened) return opened.content;
  throw new AppError('artifact_not_found', `The training data ${nameOf(dataset)} was deleted before it was read.`);
}

const nameOf = ({ entity, project, name, version }: DatasetVersion): string =>
  `${entity}/${project}/${name}:v${version}`;

/** Yields rows up to the first invalid line; `note` gets each, with its fields that no job uses. Throws `invalid_training_data` with the first problems once all lines are read. */
export async function* readRows<Row>(
  content: AsyncIterable<Uint8Array>,
  dataset: DatasetVersion,
  readLine: (line: string) => ReadLine<Row>,
  note: (read: { readonly row: Row; readonly unused?: readonly UnusedField[] }) => void = () => undefined,
): AsyncGenerator<Row> {
  const problems: string[] = [];
  const yieldToLoop = createYielder();
  let [line, rows, bad] = [0, 0, 0];
  for await (const text of splitLines(content, LINE_BYTES_MAX)) {
    line++;
    await yieldToLoop();
    const read = readText(text, line, readLine);
    if (read === null) continue;
    if ('row' in read) {
      rows++;
      note(read);
      if (bad === 0) yield read.row;
    } else if (++bad <= PROBLEMS_SHOWN) problems.push(`${dataset.path} line ${line}: ${read.problem}`);
  }
  const name = nameOf(dataset);
  if (bad > 0) {
    const more = bad > problems.length ? `\n… and ${bad - problems.length} more.` : '';
    const lines = bad === 1 ? '1 line of' : `${bad} lines of`;
    const are = bad === 1 ? 'is' : 'are';
    throw new AppError(
      'invalid_training_data',
      `${lines} ${name} ${are} invalid. Nothing was trained: upload a corrected version.\n${problems.join('\n')}${more}`,
    );
  }
  if (rows === 0) throw new AppError('invalid_training_data', `${name} has no rows in ${dataset.path}.`);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Returns null for an empty line. */
export function readText<Read extends object>(
  bytes: Buffer,
  line: number,
  readLine: (line: string) => Read,
): Read | { readonly problem: string } | null {
  if (bytes.length > LINE_BYTES_MAX) return { problem: `has more than ${LINE_BYTES_MAX} bytes` };
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { problem: 'is not UTF-8' };
  }
  if (line === 1) text = text.replace(/^\uFEFF/, '');
  return text.trim() === '' ? null : readLine(text);
}
