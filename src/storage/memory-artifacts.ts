// The slow, obvious twin of sql/artifacts.ts.
import { invariant } from '#base/invariant';
import type { ArtifactContent, ArtifactName, ArtifactVersion } from '#domain/artifact';
import type { ArtifactStore } from './artifact-store.ts';
import { paginate } from './memory-page.ts';

interface Content extends ArtifactContent {
  usedAtMs: number;
}

const same = (a: ArtifactName, b: ArtifactName): boolean =>
  a.entity === b.entity && a.project === b.project && a.name === b.name;

export function createMemoryArtifacts(): ArtifactStore & { contents(): readonly ArtifactContent[] } {
  let contents: Content[] = [];
  let versions: ArtifactVersion[] = [];

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

  return {
    contents: () => contents.map(publicContent),
    async addContent(content, usedAtMs) {
      const known = contentOf(content.entity, content.sha256);
      if (known) {
        known.usedAtMs = Math.max(known.usedAtMs, usedAtMs);
        return publicContent(known);
      }
      contents.push({ ...content, usedAtMs });
      return content;
    },
    async touchContent(entity, sha256, usedAtMs) {
      const known = contentOf(entity, sha256);
      if (known) known.usedAtMs = Math.max(known.usedAtMs, usedAtMs);
      return known && publicContent(known);
    },
    async findContent(entity, sha256) {
      const known = contentOf(entity, sha256);
      return known && publicContent(known);
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
    async create(artifact, aliases) {
      const [latest] = of(artifact);
      if (latest && (latest.digest === artifact.digest || latest.id === artifact.id)) {
        return { outcome: 'exists', artifact: nameIt(latest.id, aliases, true) };
      }
      const missing = artifact.files.filter(({ sha256 }) => !contentOf(artifact.entity, sha256));
      if (missing.length > 0) return { outcome: 'missing', sha256: [...new Set(missing.map((f) => f.sha256))].sort() };
      invariant(!versions.some(({ id }) => id === artifact.id), `there is an artifact ${artifact.id} already`);
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
    exists: async (name) => of(name).length > 0,
    async list({ entity, project, name, type }, page) {
      const wanted = versions.filter(
        (v) =>
          v.entity === entity &&
          v.project === (project ?? v.project) &&
          v.name === (name ?? v.name) &&
          v.type === (type ?? v.type),
      );
      return paginate(versions, wanted, page);
    },
    async setAliases(id, aliases) {
      if (!versions.some((v) => v.id === id)) return false;
      nameIt(id, aliases, false);
      return true;
    },
    async delete(id) {
      const before = versions.length;
      versions = versions.filter((v) => v.id !== id);
      return versions.length < before;
    },
  };
}
