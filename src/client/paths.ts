// Paths of requests from names: a name is one segment, whatever it contains. `.` and `..` cannot be: URLs resolve them even when encoded, so
// that the request would reach another route.

export class NameError extends TypeError {
  override readonly name = 'NameError';
}

/** Throws NameError for a segment that would change the path. */
export const segment = (name: string): string => {
  if (name === '' || name === '.' || name === '..')
    throw new NameError(`A name in the path of a request cannot be ${JSON.stringify(name)}.`);
  return encodeURIComponent(name);
};

/** `a/b/c`: each part is a segment. */
export const segments = (names: string): string => names.split('/').map(segment).join('/');
