// Names that are safe as paths: no traversal, no hidden files, nothing that a file system interprets specially.
import { AppError } from '#domain/errors';

const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
/** The limit of common file systems for one entry of a directory. */
const SEGMENT_LENGTH_MAX = 255;
const LENGTH_MAX = 512;

/** Returns the segments of a valid name. Throws `invalid_request`. */
export function parseBlobName(name: string): string[] {
  const segments = name.split('/');
  const good = segments.every((segment) => SEGMENT.test(segment) && segment.length <= SEGMENT_LENGTH_MAX);
  if (name.length > LENGTH_MAX || !good) {
    throw new AppError(
      'invalid_request',
      `${JSON.stringify(name.slice(0, LENGTH_MAX))} is not a blob name: segments of letters, digits, dots, underscores and dashes, at most ${SEGMENT_LENGTH_MAX} each and ${LENGTH_MAX} together, separated by slashes, none starting with a dot.`,
    );
  }
  return segments;
}
