// Training data of an SFT job: which file of an artifact it is, and its rows. All of it is read before training starts, so
// that bad data is reported as a whole, line by line, and nothing is half trained.
import { createBreather } from '#base/breather';
import type { ArtifactVersion } from '#domain/artifact';
import { AppError } from '#domain/errors';
import type { DatasetVersion, ReadSftRow, SftRow } from '#domain/sft';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { openArtifactFile } from './artifact-content.ts';
import { splitLines } from './lines.ts';

/** Reads one line; its wire form is the API's business. */
export type ReadSftLine = (line: string) => ReadSftRow;

/** As clients upload it, and as the documentation of the hosted service has it. */
const FILES = ['train.jsonl', 'trajectories.jsonl'];
const PROBLEMS_SHOWN = 20;

/** Throws `invalid_request` where there is no such file, or several that could be it. */
export function datasetFile({ name, version, files }: ArtifactVersion): string {
  const known = FILES.find((path) => files.some((file) => file.path === path));
  if (known !== undefined) return known;
  const lines = files.filter(({ path }) => path.endsWith('.jsonl'));
  if (lines.length === 1) return lines[0]!.path;
  throw new AppError(
    'invalid_request',
    `${name}:v${version} has no training data: it needs a file ${FILES.join(' or ')} with one conversation per line. ` +
      `It has ${files.map(({ path }) => path).slice(0, 10).join(', ')}.`,
    { param: 'training_data_url' },
  ); // prettier-ignore
}

/** Throws `artifact_not_found` where it was deleted, `invalid_training_data` with the first problems. */
export async function readDataset(
  { storage, blobs }: { storage: Storage; blobs: BlobStore },
  dataset: DatasetVersion,
  readLine: ReadSftLine,
): Promise<SftRow[]> {
  const { entity, version, path } = dataset;
  const name = `${entity}/${dataset.project}/${dataset.name}:v${version}`;
  const artifact = await storage.artifacts.find(dataset, { version });
  const opened = artifact && (await openArtifactFile({ storage, blobs }, artifact, path));
  if (!opened) throw new AppError('artifact_not_found', `The training data ${name} was deleted before it was read.`);
  const rows: SftRow[] = [];
  const problems: string[] = [];
  const breathe = createBreather();
  let line = 0;
  let bad = 0;
  for await (const text of splitLines(opened.content)) {
    line++;
    await breathe();
    const read = readText(text, line, readLine);
    if (read === null) continue;
    if ('row' in read) rows.push(read.row);
    else if (++bad <= PROBLEMS_SHOWN) problems.push(`${path} line ${line}: ${read.problem}`);
  }
  if (bad > 0) {
    const more = bad > problems.length ? `\n… and ${bad - problems.length} more.` : '';
    const lines = bad === 1 ? '1 line' : `${bad} lines`;
    throw new AppError(
      'invalid_training_data',
      `${lines} of ${name} cannot be trained on. Nothing was trained: upload a corrected version.\n${problems.join('\n')}${more}`,
    );
  }
  if (rows.length === 0) throw new AppError('invalid_training_data', `${name} has no rows in ${path}.`);
  return rows;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Null for an empty line. */
function readText(bytes: Buffer, line: number, readLine: ReadSftLine): ReadSftRow | null {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { problem: 'is not UTF-8' };
  }
  if (line === 1) text = text.replace(/^\uFEFF/, '');
  return text.trim() === '' ? null : readLine(text);
}
