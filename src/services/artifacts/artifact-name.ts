// How clients name artifacts: `wandb-artifact:///entity/project/name:version` (two or three slashes, also `artifact:`) in
// requests, `entity/project/name[:version]` in paths and on the command line. A version is `vN`, `latest`, an alias, or
// `stepN` of a model.
import { isPlainName } from '#base/unseen-characters';
import { CHECKPOINT_TYPE, type ArtifactName, type ArtifactSelector, type ArtifactVersion } from '#domain/artifact';

export interface NamedVersion extends ArtifactName {
  /** The version as written; null: none was given. */
  readonly version: string | null;
}

const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
/** Names that may be looked up; models have fewer restrictions. */
const READABLE = /^[^/:@\s]{1,128}$/;
const SCHEME = /^(?:wandb-)?artifact:\/{2,3}/;
/** Aliases that the server assigns itself or interprets. */
const RESERVED = /^(?:v\d+|step\d+|latest|draft)$/;
/** One more than the number of parts in a name: a text with millions of slashes is not split into millions of parts. */
const PARTS_MAX = 4;

export const isArtifactSegment = (text: string): boolean => SEGMENT.test(text);
/** Whether it may be a new name that other clients choose: models, and artifacts made for them, have fewer restrictions. */
export const isReadableName = (text: string): boolean => READABLE.test(text) && isPlainName(text);
/** For artifacts that are not models, `stepN` is an alias like any other. */
export const isClientAlias = (text: string): boolean => SEGMENT.test(text) && !/^(?:v\d+|draft)$/.test(text);
export const isAlias = (text: string): boolean => SEGMENT.test(text) && !RESERVED.test(text);

/** Returns null if the text is not an artifact URI. */
export function parseArtifactUri(uri: string): NamedVersion | null {
  return SCHEME.test(uri) ? parseArtifactName(uri.replace(SCHEME, '')) : null;
}

/** `entity/project/name[:version]`; returns null for anything else. */
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

/** The step that a version of a model names: null is the latest, undefined means that it names none. */
export function stepOf(version: string | null): number | null | undefined {
  if (version === null || version === 'latest') return null;
  const step = /^(?:step|v)(\d{1,15})$/.exec(version)?.[1];
  return step === undefined ? undefined : Number(step);
}

/** The canonical version name: `v3`, or `step3` for a model. */
export const versionText = ({ type, version, aliases }: ArtifactVersion): string =>
  type === CHECKPOINT_TYPE && aliases.includes(`step${version}`) ? `step${version}` : `v${version}`;

const PATH_LENGTH_MAX = 512;

/** Why a path cannot be a file of an artifact; null if it can. */
export function faultOfPath(path: string): string | null {
  if (path === '' || path.length > PATH_LENGTH_MAX) return `must have 1 to ${PATH_LENGTH_MAX} characters`;

  if (/[\u0000-\u001f\u007f\\:*?"<>|]/.test(path)) return 'has a character that some file systems do not allow';
  const bad = path.split('/').find((segment) => segment === '' || /^\.+$/.test(segment) || /[. ]$/.test(segment));
  return bad === undefined
    ? null
    : `has the segment ${JSON.stringify(bad)}, which is empty, dots, or ends in a dot or space`;
}
