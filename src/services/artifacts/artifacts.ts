// The artifact store: bytes are uploaded first and belong to no version; a manifest then makes a version of them, whole or not at all.
// File contents are not interpreted here. Checkpoints of models can be read by the same names (checkpoint-artifact.ts).
import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import { createDigests } from '#base/stream-digest';
import type { Log } from '#base/log';
import {
  rowBytes,
  type ArtifactFile,
  type ArtifactName,
  type ArtifactSort,
  type ArtifactVersion,
} from '#domain/artifact';
import { artifactBlob } from '#domain/blob-names';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import { COUNTED_MAX, type Listing, type Order, type Page } from '#domain/page';
import type { ArtifactFilter } from '#storage/artifact-store';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { findArtifactFile, md5sOf, type OpenArtifact } from './artifact-content.ts';
import type { AccountLimits } from '../accounts/account-limits.ts';
import { tooMuch, type OpenReservation } from '../accounts/stored-bytes.ts';
import { selectorOf, type NamedVersion } from './artifact-name.ts';
import { createArtifactCollections, type ArtifactCollections } from './collections.ts';
import { createCheckpointArtifacts, OWN_METADATA } from './checkpoint-artifact.ts';
import { explainMissing } from '../models/named-checkpoint.ts';

export interface Manifest {
  /** The id of the version, if it was assigned before. */
  readonly id?: string;
  readonly type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly aliases: readonly string[];
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
}

export type Committed =
  | { readonly outcome: 'created' | 'exists'; readonly artifact: ArtifactVersion }
  | { readonly outcome: 'missing'; readonly sha256: readonly string[] };

export interface FileBytes {
  readonly content: AsyncIterable<Uint8Array>;
  /** The size that the sender announced; null: unknown. */
  readonly declaredBytes: number | null;
  /** The SHA-256 that the sender announced; null if it did not. */
  readonly sha256: string | null;
  readonly md5?: string;
}

/** All throw `artifact_not_found` for what does not exist or belongs to another entity. */
export interface Artifacts extends ArtifactCollections {
  /** Keeps bytes for a later version, for one day. Throws `checksum_mismatch`, `body_too_large`, `too_many_requests`. */
  upload(caller: Caller, name: ArtifactName, file: FileBytes): Promise<Omit<ArtifactFile, 'path'>>;
  /** Throws `artifact_conflict` if a model has the name; `too_many_requests`. */
  commit(caller: Caller, name: ArtifactName, manifest: Manifest): Promise<Committed>;
  /** Uploads one file and makes a version of it: both of the above. */
  store(
    caller: Caller,
    name: ArtifactName,
    about: Omit<Manifest, 'files'> & { readonly path: string },
    file: FileBytes,
  ): Promise<Committed>;
  get(caller: Caller, named: NamedVersion): Promise<OpenArtifact>;
  /** Finds by name or id, stored versions or checkpoints of a model. Returns null if there is none, or it belongs to another entity. */
  look(caller: Caller, named: NamedVersion | { readonly id: string }): Promise<OpenArtifact | null>;
  /** All versions of one name: stored ones, or the checkpoints of a model. Empty if there are none. */
  versions(caller: Caller, name: ArtifactName, page: Page, order: Order): Promise<Listing<OpenArtifact>>;
  countVersions(caller: Caller, name: ArtifactName): Promise<number>;
  /** Stored versions only; null if there are none. */
  find(caller: Caller, named: NamedVersion): Promise<ArtifactVersion | null>;
  list(
    caller: Caller,
    filter: OwnArtifacts,
    page: Page,
    order: Order,
    sort: ArtifactSort,
  ): Promise<Listing<ArtifactVersion>>;
  /** Of all pages of the list; COUNTED_MAX + 1: there are more. */
  count(caller: Caller, filter: OwnArtifacts): Promise<number>;
  setAliases(caller: Caller, named: NamedVersion, aliases: readonly string[]): Promise<ArtifactVersion>;
  /** Adds aliases. A checkpoint has fixed aliases; others are refused. Throws `artifact_conflict`. */
  addAliases(caller: Caller, id: string, aliases: readonly string[]): Promise<void>;
  removeAliases(caller: Caller, id: string, aliases: readonly string[]): Promise<void>;
  /** Replaces the metadata; for a checkpoint, only the owner's part of it. */
  setMetadata(caller: Caller, id: string, metadata: Readonly<Record<string, unknown>>): Promise<void>;
  /** Without a version: all versions. Returns how many were deleted. */
  delete(caller: Caller, named: NamedVersion): Promise<number>;
  /** Deletes bytes that never became part of a version, or that no version uses any more. */
  cleanUp(): Promise<void>;
}

export type OwnArtifacts = Omit<ArtifactFilter, 'entity'>;

export interface ArtifactsDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly fileBytesMax: number;
  readonly limits: Pick<AccountLimits, 'storing'>;
}

/** How long an upload may wait for its manifest. */
const UNUSED_MS_MAX = 24 * 60 * 60 * 1000;
/** Deleted versions' bytes stay this long, for uploads that found them a moment ago. */
const GRACE_MS = 60 * 60 * 1000;

export function createArtifacts({ storage, blobs, clock, log, fileBytesMax, limits }: ArtifactsDeps): Artifacts {
  const checkpoints = createCheckpointArtifacts({ storage, blobs, clock });
  const notFound = ({ entity, project, name, version = null }: ArtifactName & { version?: string | null }) =>
    new AppError(
      'artifact_not_found',
      `No artifact ${entity}/${project}/${name}${version === null ? '' : `:${version}`}. List yours with GET /v1/artifacts.`,
    );

  function refuseOthers(caller: Caller, name: ArtifactName): void {
    if (name.entity !== caller.entity) throw notFound(name);
  }

  async function own(caller: Caller, named: NamedVersion): Promise<ArtifactVersion> {
    refuseOthers(caller, named);
    const found = await storage.artifacts.find(named, selectorOf(named.version));
    if (!found) throw notFound(named);
    return found;
  }

  async function read(artifact: ArtifactVersion, path: string, from?: number) {
    const opened = await findArtifactFile({ storage, blobs }, artifact, path, from);
    if (opened) return opened;
    const paths = artifact.files.map((each) => each.path).slice(0, 10);
    throw new AppError(
      'artifact_not_found',
      `${artifact.name}:v${artifact.version} has no file ${path}. It has ${paths.join(', ')}.`,
    );
  }

  const stored = (artifact: ArtifactVersion, latest: ArtifactVersion | null): OpenArtifact => ({
    artifact,
    isLatest: artifact.id === latest?.id,
    md5s: () => md5sOf({ storage, blobs }, artifact),
    open: (path, from) => read(artifact, path, from),
  });

  const look: Artifacts['look'] = async (caller, which) => {
    if ('id' in which) {
      const artifact = await storage.artifacts.findById(which.id);
      const found = artifact
        ? stored(artifact, await storage.artifacts.find(artifact, null))
        : await checkpoints.findById(which.id);
      return found?.artifact.entity === caller.entity ? found : null;
    }
    if (which.entity !== caller.entity) return null;
    const artifact = await storage.artifacts.find(which, selectorOf(which.version));
    if (!artifact) return checkpoints.find(which);
    const isNamedLatest = which.version === null || which.version === 'latest';
    return stored(artifact, isNamedLatest ? artifact : await storage.artifacts.find(which, null));
  };

  async function byId(caller: Caller, id: string): Promise<OpenArtifact> {
    const found = await look(caller, { id });
    if (found) return found;
    throw new AppError('artifact_not_found', `No artifact with the id ${id}.`);
  }

  async function setAliases(
    { id, name, version }: ArtifactVersion,
    isLatest: boolean,
    aliases: string[],
  ): Promise<void> {
    if (await storage.artifacts.setAliases(id, aliases)) return;
    const own = `step${version}${isLatest ? ' and latest' : ''}`;
    throw new AppError('artifact_conflict', `The only alias of this checkpoint of ${name} is ${own}.`);
  }

  async function removeUnused(...what: Parameters<Storage['artifacts']['removeUnused']>): Promise<void> {
    const unused = await storage.artifacts.removeUnused(...what);
    for (const blob of unused) await blobs.delete(blob);
    if (unused.length > 0) log.info('artifacts.cleaned', { blobs: unused.length });
  }

  async function receive(
    { entity }: Caller,
    { content, declaredBytes, sha256, md5 }: FileBytes,
    reservation: OpenReservation,
  ): Promise<Omit<ArtifactFile, 'path'>> {
    if (declaredBytes !== null && declaredBytes > fileBytesMax) throw tooLarge(fileBytesMax);
    reservation.hold(declaredBytes ?? 0);
    const blob = artifactBlob(createId());
    const digests = createDigests();
    await blobs.put(blob, measure(content, digests, fileBytesMax, declaredBytes ?? 0, reservation));
    const { sizeBytes, ...actual } = digests.end();
    const wrong =
      sha256 !== null && sha256 !== actual.sha256
        ? `SHA-256 ${actual.sha256}, not ${sha256}`
        : md5 !== undefined && md5 !== actual.md5 && `MD5 ${actual.md5}, not ${md5}`;
    if (wrong) {
      await blobs.delete(blob);
      throw new AppError(
        'checksum_mismatch',
        `The bytes that arrived have ${wrong}. Nothing was stored: send them again.`,
      );
    }
    const known = await reservation.settle(async () => {
      const added = { entity, ...actual, sizeBytes, blob };
      const found = await storage.artifacts.addContent(added, reservation.payer, clock.now());
      return { value: found, amount: found !== 'over_limit' && found.blob === blob ? sizeBytes : 0 };
    });
    if (known === 'over_limit' || known.blob !== blob) await blobs.delete(blob); // the same content is stored already
    if (known === 'over_limit') throw tooMuch();
    return { sha256: actual.sha256, sizeBytes };
  }

  async function refuseModels({ entity, project, name }: ArtifactName): Promise<void> {
    if (!(await storage.models.findByName(entity, project, name))) return;
    throw new AppError(
      'artifact_conflict',
      `${entity}/${project}/${name} is a model: its versions are its checkpoints. Choose another name.`,
    );
  }

  async function makeVersion(
    caller: Caller,
    name: ArtifactName,
    { id = createId(), type, metadata, aliases, files }: Manifest,
    reservation: OpenReservation,
  ): Promise<Committed> {
    const nowMs = clock.now();
    const hashes = unique(files.map(({ sha256 }) => sha256));
    const contents = await storage.artifacts.touchContents(caller.entity, hashes, nowMs);
    const sizes = new Map(contents.map(({ sha256, sizeBytes }) => [sha256, sizeBytes]));
    const missing = hashes.filter((sha256) => !sizes.has(sha256));
    if (missing.length > 0) return { outcome: 'missing', sha256: missing };
    const sorted = files
      .map(({ path, sha256 }) => ({ path, sha256, sizeBytes: sizes.get(sha256)! }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
    const { entity, project } = name;
    const about = { type, metadata, files: sorted };
    const version = { entity, project, name: name.name, ...about, digest: digestOf(about) };
    const committed = await reservation.settle(async () => {
      const made = await storage.artifacts.create({ ...version, id, createdAtMs: nowMs }, aliases, reservation.payer);
      return { value: made, amount: made.outcome === 'created' ? rowBytes(version, aliases.length) : 0 };
    });
    if (committed.outcome === 'over_limit') {
      throw tooMuch(`The manifest takes ${rowBytes(version, aliases.length)} bytes, more than may still be stored`);
    }
    if (committed.outcome === 'created') {
      const { id, version: number } = committed.artifact;
      log.info('artifact.created', { artifactId: id, project, name: name.name, version: number, files: files.length });
    }
    return committed;
  }

  return {
    async upload(caller, name, file) {
      refuseOthers(caller, name);
      return limits.storing(caller, (reservation) => receive(caller, file, reservation));
    },

    async commit(caller, name, manifest) {
      refuseOthers(caller, name);
      await refuseModels(name);
      return limits.storing(caller, (reservation) => makeVersion(caller, name, manifest, reservation));
    },

    async store(caller, name, { path, ...about }, file) {
      refuseOthers(caller, name);
      await refuseModels(name); // before the bytes are read
      return limits.storing(caller, async (reservation) => {
        reservation.hold(
          rowBytes({ metadata: about.metadata, files: [{ path, sizeBytes: 0, sha256: '' }] }, about.aliases.length),
        );
        const { sha256 } = await receive(caller, file, reservation);
        return makeVersion(caller, name, { ...about, files: [{ path, sha256 }] }, reservation);
      });
    },

    async get(caller, named) {
      const found = await look(caller, named);
      if (found) return found;
      const { entity, project, name, version } = named;
      const step = `${project}/${name}${version === null ? '' : `:${version}`}`;
      const missing = entity === caller.entity ? await explainMissing(storage, entity, step) : null;
      throw missing === null ? notFound(named) : new AppError('artifact_not_found', missing);
    },

    look,

    async versions(caller, name, page, order) {
      if (name.entity !== caller.entity) return { rows: [], hasMore: false };
      const ofModel = await checkpoints.list(name, page, order);
      if (ofModel) return ofModel;
      const latest = await storage.artifacts.find(name, null);
      const { rows, hasMore } = await storage.artifacts.list(name, page, order);
      return { rows: rows.map((row) => stored(row, latest)), hasMore };
    },

    ...createArtifactCollections(storage),

    async find(caller, named) {
      refuseOthers(caller, named);
      return storage.artifacts.find(named, selectorOf(named.version));
    },

    list: ({ entity }, filter, page, order, sort) => storage.artifacts.list({ ...filter, entity }, page, order, sort),

    count: ({ entity }, filter) => storage.artifacts.count({ ...filter, entity }, COUNTED_MAX + 1),

    async countVersions({ entity }, name) {
      if (name.entity !== entity) return 0;
      const model = await storage.models.findByName(entity, name.project, name.name);
      return model ? storage.checkpoints.count(model.id) : storage.artifacts.count(name);
    },

    async setAliases(caller, named, aliases) {
      const { id } = await own(caller, named);
      if (!(await storage.artifacts.setAliases(id, aliases))) throw notFound(named);
      return own(caller, named);
    },

    async addAliases(caller, id, aliases) {
      const { artifact, isLatest } = await byId(caller, id);
      const all = unique([...artifact.aliases, ...aliases]);
      if (all.length > artifact.aliases.length) await setAliases(artifact, isLatest, all);
    },

    async removeAliases(caller, id, aliases) {
      const { artifact, isLatest } = await byId(caller, id);
      const left = artifact.aliases.filter((alias) => !aliases.includes(alias));
      if (left.length < artifact.aliases.length) await setAliases(artifact, isLatest, left);
    },

    async setMetadata(caller, id, metadata) {
      await byId(caller, id);
      const artifact = await storage.artifacts.findById(id);
      if (artifact) {
        await storage.artifacts.setMetadata(id, metadata, digestOf({ ...artifact, metadata }));
        return;
      }
      const notes = Object.entries(metadata).filter(([key]) => !OWN_METADATA.includes(key));
      await storage.checkpoints.setMetadata(id, Object.fromEntries(notes));
    },

    async delete(caller, named) {
      const first = await own(caller, named);
      let deleted = 0;
      for (let next: ArtifactVersion | null = first; next;) {
        if (await storage.artifacts.delete(next.id)) deleted++;
        const sha256 = unique(next.files.map((file) => file.sha256));
        await removeUnused(clock.now() - GRACE_MS, { entity: caller.entity, sha256 });
        next = named.version === null ? await storage.artifacts.find(named, null) : null;
      }
      log.info('artifact.deleted', { project: named.project, name: named.name, versions: deleted });
      return deleted;
    },

    async cleanUp() {
      await storage.artifacts.removeDrafts({ createdBeforeMs: clock.now() - UNUSED_MS_MAX });
      await removeUnused(clock.now() - UNUSED_MS_MAX);
    },
  };
}

/** Digest of a version's content, whatever its name. */
const digestOf = ({ type, metadata, files }: Pick<ArtifactVersion, 'type' | 'metadata' | 'files'>): string =>
  createHash('sha256')
    .update(JSON.stringify([type, metadata, files]))
    .digest('hex');

const tooLarge = (bytesMax: number): AppError =>
  new AppError('body_too_large', `The file is over this server's limit of ${bytesMax} bytes. Split it.`);

/** Bytes beyond the reserved amount are reserved piece by piece. */
async function* measure(
  content: AsyncIterable<Uint8Array>,
  digests: Pick<ReturnType<typeof createDigests>, 'add'>,
  bytesMax: number,
  heldBytes: number,
  reservation: OpenReservation,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > bytesMax) throw tooLarge(bytesMax);
    if (size > heldBytes) {
      reservation.hold(size - heldBytes);
      heldBytes = size;
    }
    digests.add(chunk);
    yield chunk;
  }
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)].sort();
