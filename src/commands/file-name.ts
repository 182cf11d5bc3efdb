// File names from names of a server, which may hold characters that lead to another directory, hide the file or look like a flag.

const CHARACTERS_MAX = 100; // file systems allow 255 bytes, and endings follow

/** One segment of a path that is visible and no flag. */
export const safeName = (name: string): string =>
  name
    .slice(0, CHARACTERS_MAX)
    .replace(/[^\p{L}\p{N}._-]+/gu, '_')
    .replace(/^[.-]+/, '_') || '_';
