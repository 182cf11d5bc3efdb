// How clients name artifacts: `wandb-artifact:///entity/project/name:version` (two or three slashes, also `artifact:`) in
// requests, `entity/project/name[:version]` in paths and on the command line. A version is `vN`, `latest`, an alias, or
// `stepN` of a model.
import { CHECKPOINT_TYPE, type ArtifactName, type ArtifactSelector, type ArtifactVersion } from '#domain/artifact';

export interface NamedVersion extends ArtifactName {
  /** As written; null: none was. */
  readonly version: string | null;
}

const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
/** What may be looked up: models have freer names. */
const READABLE = /^[^/:@\s]{1,128}$/;
const SCHEME = /^(?:wandb-)?artifact:\/{2,3}/;
/** Names that the server gives itself, or reads in its own way. */
const RESERVED = /^(?:v\d+|step\d+|latest|draft)$/;
/** One more than a name has: a text of millions of slashes is not made millions of parts. */
const PARTS_MAX = 4;

export const isArtifactSegment = (text: string): boolean => SEGMENT.test(text);
/** Also of what other clients name: models have freer names, and so has what is made for them. */
export const isReadableName = (text: string): boolean => READABLE.test(text);
/** `stepN` is an alias like others where artifacts are versions of no model. */
export const isClientAlias = (text: string): boolean => SEGMENT.test(text) && !/^(?:v\d+|draft)$/.test(text);
export const isAlias = (text: string): boolean => SEGMENT.test(text) && !RESERVED.test(text);

/** Null: not a URI of an artifact. */
export function parseArtifactUri(uri: string): NamedVersion | null {
  return SCHEME.test(uri) ? parseArtifactName(uri.replace(SCHEME, '')) : null;
}

/** `entity/project/name[:version]`; null: not such a name. */
export function parseArtifactName(text: string): NamedVersion | null {
  const [entity, project, last, ...more] = text.split('/', PARTS_MAX);
  if (entity === undefined || project === undefined || last === undefined || more.length > 0) return null;
  const [name, version = null, ...rest] = last.split(':', PARTS_MAX);
  if (rest.length > 0 || ![entity, project, name!, version ?? 'v0'].every((part) => READABLE.test(part))) return null;
  return { entity, project, name: name!, version };
}

export function selectorOf(version: string | null): ArtifactSelector {
  if (version === null || version === 'latest') return null;
  const number = /^v(\d{1,15})$/.exec(version)?.[1];
  return number === undefined ? { alias: version } : { version: Number(number) };
}

/** The step that a version of a model names: null the latest, undefined none. */
export function stepOf(version: string | null): number | null | undefined {
  if (version === null || version === 'latest') return null;
  const step = /^(?:step|v)(\d{1,15})$/.exec(version)?.[1];
  return step === undefined ? undefined : Number(step);
}

/** As it is called: `v3`, and `step3` of a model. */
export const versionText = ({ type, version, aliases }: ArtifactVersion): string =>
  type === CHECKPOINT_TYPE && aliases.includes(`step${version}`) ? `step${version}` : `v${version}`;

const PATH_LENGTH_MAX = 512;

/** Why a path cannot be a file of an artifact; null: it can. */
export function faultOfPath(path: string): string | null {
  if (path === '' || path.length > PATH_LENGTH_MAX) return `must have 1 to ${PATH_LENGTH_MAX} characters`;

  if (/[\u0000-\u001f\u007f\\:*?"<>|]/.test(path)) return 'has a character that some file systems do not allow';
  const bad = path.split('/').find((segment) => segment === '' || /^\.+$/.test(segment) || /[. ]$/.test(segment));
  return bad === undefined
    ? null
    : `has the segment ${JSON.stringify(bad)}, which is empty, dots, or ends in a dot or space`;
}
