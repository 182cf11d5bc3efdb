// Uploads of clients that announce a version first and name files by MD5: the version is announced, its files arrive in any order,
// then a list of them, then it is committed. Each step may be repeated, also after a restart. A `lora` that is named like a model becomes its checkpoint.
import { createHash } from 'node:crypto';
import { counted } from '#base/counted';
import type { Clock } from '#base/clock';
import { manifestDigest } from '#base/manifest-digest';
import { NOT_PLAIN } from '#base/unseen-characters';
import { CHECKPOINT_TYPE, type ArtifactDraft, type ArtifactFile, type ArtifactName } from '#domain/artifact';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import type { AccountLimits } from '../accounts/account-limits.ts';
import { tooMuch } from '../accounts/stored-bytes.ts';
import type { Runs } from '../runs/runs.ts';
import type { CommitAdapter } from './adapter-commit.ts';
import { openArtifactFile, type OpenArtifact } from './artifact-content.ts';
import { isReadableName } from './artifact-name.ts';
import type { Artifacts, FileBytes } from './artifacts.ts';
import { readClientManifest } from './client-manifest.ts';

export interface Announced extends ArtifactName {
  /** The client's own id: announcing it again means the same version. */
  readonly clientId: string;
  readonly type: string;
  /** The run in its project that logs it, if any. */
  readonly run: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Without `latest`. */
  readonly aliases: readonly string[];
  /** MD5 over the paths and MD5s of its files, in hex. */
  readonly digest: string;
}

export type Begun =
  | { readonly outcome: 'pending'; readonly id: string; readonly latest: OpenArtifact | null }
  /** The newest version has these files already, and now the aliases too. */
  | { readonly outcome: 'committed'; readonly artifact: OpenArtifact };

/** All throw `artifact_not_found` for what does not exist or belongs to another entity. */
export interface ArtifactDrafts {
  /** Returns the id of the version that has, or will have, the client's id. */
  idOf(caller: Caller, clientId: string): string;
  /** Throws `artifact_conflict` if a model has the name; `invalid_request`, `too_many_requests`. */
  begin(caller: Caller, announced: Announced): Promise<Begun>;
  /** Which of these MD5s are stored already. */
  known(caller: Caller, id: string, md5s: readonly string[]): Promise<ReadonlySet<string>>;
  /** As for other uploads. Throws `checksum_mismatch`. */
  receive(caller: Caller, id: string, md5: string, file: Omit<FileBytes, 'sha256' | 'md5'>): Promise<void>;
  receiveManifest(caller: Caller, id: string, file: Omit<FileBytes, 'sha256' | 'md5'>): Promise<void>;
  /** Throws `artifact_conflict` if files are missing, or an adapter does not fit its model. */
  commit(caller: Caller, id: string): Promise<OpenArtifact>;
}

export interface ArtifactDraftsDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly artifacts: Artifacts;
  readonly limits: Pick<AccountLimits, 'storing'>;
  readonly commitAdapter: CommitAdapter;
  readonly runs: Pick<Runs, 'noteArtifact'>;
  readonly clock: Clock;
}

export function createArtifactDrafts(deps: ArtifactDraftsDeps): ArtifactDrafts {
  const { storage, blobs, artifacts, limits, commitAdapter, runs, clock } = deps;

  async function own(caller: Caller, id: string): Promise<ArtifactDraft> {
    const draft = await storage.artifacts.findDraft(id);
    if (draft?.entity === caller.entity) return draft;
    throw new AppError(
      'artifact_not_found',
      `No artifact ${id} is being uploaded. An upload that is not complete after a day is deleted.`,
    );
  }

  async function noteLogged(caller: Caller, by: ArtifactName & { run: string | null }, id: string): Promise<void> {
    if (by.run === null) return;
    await runs.noteArtifact(caller, { entity: by.entity, project: by.project, name: by.run }, id, 'logged');
  }

  /** Follow-up work once the version exists; may be repeated. */
  async function finish(caller: Caller, draft: ArtifactDraft, committed: string): Promise<void> {
    await noteLogged(caller, draft, committed);
    await storage.artifacts.removeDrafts({ id: draft.id });
  }

  /** Completes a version whose server stopped, or failed, before the follow-up work. */
  async function finishLeft(caller: Caller, id: string): Promise<void> {
    const draft = await storage.artifacts.findDraft(id);
    if (draft) await finish(caller, draft, id);
  }

  const findModel = ({ entity, project, name }: ArtifactName) => storage.models.findByName(entity, project, name);

  async function put(caller: Caller, draft: ArtifactDraft): Promise<void> {
    const stored = await limits.storing(caller, ({ payer }) => storage.artifacts.putDraft(draft, payer));
    if (stored === 'over_limit') throw tooMuch();
  }

  async function filesOf(draft: ArtifactDraft): Promise<readonly ArtifactFile[]> {
    const entries = await readManifest(draft);
    const hashes = [...new Set(entries.map(({ md5 }) => md5))];
    const contents = await storage.artifacts.findContents(draft.entity, 'md5', hashes);
    const byMd5 = new Map(contents.map((content) => [`${content.md5}:${content.sizeBytes}`, content]));
    const missing = entries.filter(({ md5, sizeBytes }) => !byMd5.has(`${md5}:${sizeBytes}`));
    if (missing.length > 0) {
      const names = missing.slice(0, 10).map(({ path }) => path);
      throw new AppError(
        'artifact_conflict',
        `${draft.name} is not complete: it lacks ${missing.length} of ${counted(entries.length, 'file')} (${names.join(', ')}). Log it again.`,
      );
    }
    return entries.map(({ path, md5, sizeBytes }) => {
      const { sha256 } = byMd5.get(`${md5}:${sizeBytes}`)!;
      return { path, sha256, sizeBytes };
    });
  }

  async function readManifest({ entity, name, manifest }: ArtifactDraft) {
    const content = manifest === null ? null : await storage.artifacts.findContent(entity, manifest);
    const bytes = content && (await blobs.find(content.blob));
    if (!bytes)
      throw new AppError('artifact_conflict', `The list of the files of ${name} has not arrived. Log it again.`);
    return readClientManifest(Buffer.from(bytes).toString('utf8'));
  }

  return {
    idOf: ({ entity }, clientId) => idOf(entity, clientId),

    async begin(caller, { clientId, digest, ...announced }) {
      const { entity, project, name, type, aliases } = announced;
      if (entity !== caller.entity)
        throw new AppError('artifact_not_found', `This key belongs to the entity ${caller.entity}, not to ${entity}.`);
      const bad = [project, name, type].find((text) => !isReadableName(text));
      if (bad !== undefined)
        throw new AppError(
          'invalid_request',
          `${JSON.stringify(bad.slice(0, 200))} is not a valid name: use 1 to 128 characters without / : @ or spaces. It ${NOT_PLAIN}.`,
        );
      const model = await findModel(announced);
      if (type !== CHECKPOINT_TYPE && model)
        throw new AppError(
          'artifact_conflict',
          `${project}/${name} is a model: its versions are its checkpoints, of type lora. Choose another name.`,
        );
      if (model) refuseAliases(announced);
      const id = idOf(entity, clientId);
      const made = await artifacts.look(caller, { id });
      if (made) {
        await finishLeft(caller, id);
        return { outcome: 'committed', artifact: made };
      }
      const latest = await artifacts.look(caller, { entity, project, name, version: null });
      if (latest?.artifact.type === type && manifestDigest(await latest.md5s()) === digest) {
        await artifacts.addAliases(caller, latest.artifact.id, aliases);
        await noteLogged(caller, announced, latest.artifact.id);
        return { outcome: 'committed', artifact: (await artifacts.look(caller, latest.artifact)) ?? latest };
      }
      const before = await storage.artifacts.findDraft(id);
      if (!before) await put(caller, { id, ...announced, manifest: null, createdAtMs: clock.now() });
      return { outcome: 'pending', id, latest };
    },

    async known(caller, id, md5s) {
      await own(caller, id);
      const contents = await storage.artifacts.findContents(caller.entity, 'md5', [...new Set(md5s)]);
      const hashes = contents.map(({ sha256 }) => sha256);
      const kept = await storage.artifacts.touchContents(caller.entity, hashes, clock.now());
      return new Set(kept.flatMap(({ md5 }) => md5 ?? []));
    },

    async receive(caller, id, md5, file) {
      await artifacts.upload(caller, await own(caller, id), { ...file, sha256: null, md5 });
    },

    async receiveManifest(caller, id, file) {
      const draft = await own(caller, id);
      const { sha256 } = await artifacts.upload(caller, draft, { ...file, sha256: null });
      await put(caller, { ...draft, manifest: sha256 });
    },

    async commit(caller, id) {
      const made = await artifacts.look(caller, { id });
      if (made) {
        await finishLeft(caller, id);
        return made;
      }
      const draft = await own(caller, id);
      const files = await filesOf(draft);
      const model = await findModel(draft);
      let committed = id;
      if (model) {
        const open = (file: ArtifactFile) => openArtifactFile({ storage, blobs }, draft.entity, file);
        committed = await commitAdapter(caller, model, draft, files, open);
      } else {
        const { type, metadata, aliases } = draft;
        const result = await artifacts.commit(caller, draft, { id, type, metadata, aliases, files });
        if (result.outcome === 'missing')
          throw new AppError('artifact_conflict', `Files of ${draft.name} were removed meanwhile. Log it again.`);
        committed = result.artifact.id;
      }
      await finish(caller, draft, committed);
      return (await artifacts.look(caller, { id: committed }))!;
    },
  };
}

/** Whoever forks a model names the step. */
function refuseAliases({ name, aliases }: Pick<Announced, 'name' | 'aliases'>): void {
  const other = aliases.find((alias) => !/^step\d+$/.test(alias));
  if (other === undefined) return;
  throw new AppError(
    'artifact_conflict',
    `${name} is a model: its checkpoints are called stepN and latest, not ${other}. Log it without that alias.`,
  );
}

/** Deterministic: the same client id gives the same id in our own form. */
function idOf(entity: string, clientId: string): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([entity, clientId]))
    .digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
