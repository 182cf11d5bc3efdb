// The file list of an artifact in the `wandb` library's format: parsed, and written for artifacts that were uploaded in other ways.
import { setImmediate } from 'node:timers/promises';
import { counted } from '#base/counted';
import { base64OfHex } from '#base/manifest-digest';
import { isObject } from '#base/is-object';
import { BODY_SHAPE, createShapeBudget, scanJsonShape, ShapeError } from '#base/json-shape';
import { AppError } from '#domain/errors';
import type { OpenArtifact } from './artifact-content.ts';
import { faultOfPath } from './artifact-name.ts';

export interface ManifestEntry {
  readonly path: string;
  /** Hex. */
  readonly md5: string;
  readonly sizeBytes: number;
}

/** Maximum number of files, as for other artifacts. */
const FILES_MAX = 10_000;
/** Maximum characters per file: a path of 512 characters, and as much for the client's own fields. */
export const MANIFEST_BYTES_MAX = 16_000_000;

const bad = (fault: string): AppError => new AppError('artifact_conflict', `The list of files ${fault}.`);

/** It was uploaded as a file, and becomes as much as a body may. Throws `artifact_conflict`. */
export async function readClientManifest(text: string): Promise<readonly ManifestEntry[]> {
  const { contents } = await parsed(text);
  if (!isObject(contents)) throw bad('has no contents');
  const entries = Object.entries(contents);
  if (entries.length === 0) throw bad('is empty: an artifact has at least one file');
  if (entries.length > FILES_MAX) throw bad(`names ${counted(entries.length, 'file')}, more than ${FILES_MAX}`);
  return entries.map(([path, entry]) => {
    const fault = faultOfPath(path);
    if (fault !== null) throw bad(`has the path ${JSON.stringify(path.slice(0, 200))}, which ${fault}`);
    if (!isObject(entry)) throw bad(`has no entry for ${path}`);
    const { ref, digest, size } = entry as Record<string, unknown>;
    if (ref !== undefined && ref !== null)
      throw bad(
        `refers to ${JSON.stringify(ref).slice(0, 200)} for ${path}: Whetstone stores files, not references. Add the file itself`,
      );
    const md5 = typeof digest === 'string' ? Buffer.from(digest, 'base64').toString('hex') : '';
    if (md5.length !== 32) throw bad(`has no MD5 for ${path}`);
    if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) throw bad(`has no size for ${path}`);
    return { path, md5, sizeBytes: size };
  });
}

/** Other requests are served between the steps for a long text. */
async function parsed(text: string): Promise<Record<string, unknown>> {
  try {
    for (const _ of scanJsonShape(text, createShapeBudget(BODY_SHAPE))) await setImmediate();
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch (error) {
    if (error instanceof ShapeError) throw bad(`is not readable: ${error.message}`);
  }
  throw bad('is not a JSON object');
}

export async function writeClientManifest({
  artifact,
  md5s,
}: Pick<OpenArtifact, 'artifact' | 'md5s'>): Promise<string> {
  const byPath = await md5s();
  const contents = Object.fromEntries(
    artifact.files.map(({ path, sizeBytes }) => [
      path,
      { digest: base64OfHex(byPath.get(path) ?? ''), size: sizeBytes, birthArtifactID: artifact.id },
    ]),
  );
  return JSON.stringify({
    version: 1,
    storagePolicy: 'wandb-storage-policy-v1',
    storagePolicyConfig: { storageLayout: 'V2' },
    contents,
  });
}
