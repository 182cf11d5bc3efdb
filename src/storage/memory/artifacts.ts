// The slow, simple reference for sql/artifacts.ts.
import { invariant } from '#base/invariant';
import {
  CHECKPOINT_TYPE,
  rowBytes,
  type ArtifactCollection,
  type ArtifactContent,
  type ArtifactDraft,
  type ArtifactName,
  type ArtifactVersion,
  versionWeight,
} from '#domain/artifact';
import { artifactRows } from '#domain/blob-names';
import type { Payer } from '../account-store.ts';
import type { Model } from '#domain/model';
import type { ArtifactStore, CollectionFilter } from '../artifact-store.ts';
import type { MemoryAccounts } from './accounts.ts';
import { inOrder, paginate } from './page.ts';

interface Content extends ArtifactContent {
  usedAtMs: number;
}

const isAfter = (
  a: Pick<ArtifactCollection, 'name' | 'type'>,
  b: Pick<ArtifactCollection, 'name' | 'type'>,
): boolean => (a.name === b.name ? a.type > b.type : a.name > b.name);

const same = (a: ArtifactName, b: ArtifactName): boolean =>
  a.entity === b.entity && a.project === b.project && a.name === b.name;

export function createMemoryArtifacts(
  accounts: Pick<MemoryAccounts, 'chargeWithin' | 'forget'>,
  models: () => readonly Model[],
): ArtifactStore & { contents(): readonly ArtifactContent[] } {
  let contents: Content[] = [];
  let versions: ArtifactVersion[] = [];
  let drafts: ArtifactDraft[] = [];

  const contentOf = (entity: string, sha256: string) =>
    contents.find((content) => content.entity === entity && content.sha256 === sha256) ?? null;
  const publicContent = ({ usedAtMs: _, ...content }: Content): ArtifactContent => content;
  const of = (name: ArtifactName) => versions.filter((v) => same(v, name)).sort((a, b) => b.version - a.version);

  /** `keeps`: what it was called before. */
  function nameIt(id: string, aliases: readonly string[], keeps: boolean): ArtifactVersion {
    const target = versions.find((v) => v.id === id)!;
    versions = versions.map((version) => {
      if (!same(version, target)) return version;
      const left = version.aliases.filter((alias) => !aliases.includes(alias));
      const own = keeps ? [...left, ...aliases] : aliases;
      return { ...version, aliases: version.id === id ? [...new Set(own)].sort() : left };
    });
    return versions.find((v) => v.id === id)!;
  }

  const charge = (
    artifact: Pick<ArtifactVersion, 'id' | 'entity' | 'metadata' | 'files'>,
    named: number,
    payer: Payer,
  ) => {
    const { id, entity } = artifact;
    return accounts.chargeWithin({ blob: artifactRows(id), entity, sizeBytes: rowBytes(artifact, named) }, payer);
  };

  /** By name, then type. */
  function collections({ entity, project, name, type }: CollectionFilter): readonly ArtifactCollection[] {
    const all = [...versions, ...models().map((model) => ({ ...model, type: CHECKPOINT_TYPE }))];
    const found = new Map<string, ArtifactCollection>();
    for (const each of all) {
      if (each.entity !== entity || each.project !== project) continue;
      if (each.name !== (name ?? each.name) || each.type !== (type ?? each.type)) continue;
      const key = JSON.stringify([each.name, each.type]);
      const createdAtMs = Math.min(each.createdAtMs, found.get(key)?.createdAtMs ?? Infinity);
      found.set(key, { name: each.name, type: each.type, createdAtMs });
    }
    return [...found.values()].sort((a, b) => (isAfter(a, b) ? 1 : -1));
  }

  return {
    contents: () => contents.map(publicContent),
    async addContent(content, payer, usedAtMs) {
      const known = contentOf(content.entity, content.sha256);
      if (known) {
        known.usedAtMs = Math.max(known.usedAtMs, usedAtMs);
        return publicContent(known);
      }
      if (!accounts.chargeWithin(content, payer)) return 'over_limit';
      contents.push({ ...content, usedAtMs });
      return content;
    },
    async touchContents(entity, sha256, usedAtMs) {
      const known = contents.filter((content) => content.entity === entity && sha256.includes(content.sha256));
      for (const each of known) each.usedAtMs = Math.max(each.usedAtMs, usedAtMs);
      return known.map(publicContent);
    },
    async findContent(entity, sha256) {
      const known = contentOf(entity, sha256);
      return known && publicContent(known);
    },
    findContents: async (entity, by, hashes) =>
      contents.filter((each) => each.entity === entity && hashes.includes(each[by] ?? '')).map(publicContent),
    async setMd5(entity, sha256, md5) {
      contents = contents.map((each) => (each === contentOf(entity, sha256) ? { ...each, md5 } : each));
    },
    async removeUnused(usedBeforeMs, only) {
      const unused = contents.filter(
        ({ entity, sha256, usedAtMs }) =>
          usedAtMs < usedBeforeMs &&
          (!only || (only.entity === entity && only.sha256.includes(sha256))) &&
          !versions.some((v) => v.entity === entity && v.files.some((file) => file.sha256 === sha256)),
      );
      contents = contents.filter((content) => !unused.includes(content));
      return unused.map(({ blob }) => blob).sort();
    },
    async create(artifact, aliases, payer) {
      const [latest] = of(artifact);
      if (latest && (latest.digest === artifact.digest || latest.id === artifact.id)) {
        const all = new Set([...latest.aliases, ...aliases]).size;
        if (all > latest.aliases.length && !charge(latest, all, payer)) return { outcome: 'over_limit' };
        return { outcome: 'exists', artifact: nameIt(latest.id, aliases, true) };
      }
      const missing = artifact.files.filter(({ sha256 }) => !contentOf(artifact.entity, sha256));
      if (missing.length > 0) return { outcome: 'missing', sha256: [...new Set(missing.map((f) => f.sha256))].sort() };
      invariant(!versions.some(({ id }) => id === artifact.id), `there is an artifact ${artifact.id} already`);
      if (!charge(artifact, new Set(aliases).size, payer)) return { outcome: 'over_limit' };
      const files = [...artifact.files].sort((a, b) => (a.path < b.path ? -1 : 1));
      versions.push({ ...structuredClone(artifact), files, version: (latest?.version ?? -1) + 1, aliases: [] });
      return { outcome: 'created', artifact: nameIt(artifact.id, aliases, true) };
    },
    async find(name, selector) {
      const all = of(name);
      if (selector === null) return all[0] ?? null;
      return (
        all.find((v) =>
          'version' in selector ? v.version === selector.version : v.aliases.includes(selector.alias),
        ) ?? null
      );
    },
    findById: async (id) => versions.find((v) => v.id === id) ?? null,
    exists: async (name) => of(name).length > 0,
    count: async (name) => of(name).length,
    async list({ entity, project, name, type }, page, order = 'asc') {
      const all = inOrder(
        versions.filter((v) => v.entity === entity),
        order,
      );
      const matching = all.filter(
        (v) => v.project === (project ?? v.project) && v.name === (name ?? v.name) && v.type === (type ?? v.type),
      );
      return paginate(all, matching, page, versionWeight);
    },
    async listCollections(filter, { after, limit }) {
      const rest = collections(filter).filter((each) => after === null || isAfter(each, after));
      return { rows: rest.slice(0, limit), hasMore: rest.length > limit };
    },
    countCollections: async (filter) => collections(filter).length,
    async listTypes(filter, limit) {
      const first = new Map<string, number>();
      for (const { type, createdAtMs } of collections(filter))
        first.set(type, Math.min(createdAtMs, first.get(type) ?? Infinity));
      const types = [...first].map(([type, createdAtMs]) => ({ type, createdAtMs }));
      return types.sort((a, b) => (a.type > b.type ? 1 : -1)).slice(0, limit);
    },
    async setAliases(id, aliases) {
      if (!versions.some((v) => v.id === id)) return false;
      nameIt(id, aliases, false);
      return true;
    },
    async setMetadata(id, metadata, digest) {
      versions = versions.map((v) => (v.id === id ? { ...v, metadata: structuredClone(metadata), digest } : v));
      return versions.some((v) => v.id === id);
    },
    async putDraft(draft, payer) {
      if (!charge({ ...draft, files: [] }, draft.aliases.length, payer)) return 'over_limit';
      drafts = [...drafts.filter(({ id }) => id !== draft.id), structuredClone(draft)];
      return 'stored';
    },
    findDraft: async (id) => drafts.find((draft) => draft.id === id) ?? null,
    async removeDrafts(which) {
      const gone = drafts.filter((draft) =>
        'id' in which ? draft.id === which.id : draft.createdAtMs < which.createdBeforeMs,
      );
      drafts = drafts.filter((draft) => !gone.includes(draft));
      for (const { id } of gone) if (!versions.some((v) => v.id === id)) accounts.forget(artifactRows(id));
    },
    async delete(id) {
      const before = versions.length;
      versions = versions.filter((v) => v.id !== id);
      accounts.forget(artifactRows(id));
      return versions.length < before;
    },
  };
}
