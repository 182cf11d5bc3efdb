// Which methods a path takes, for answers to requests that no route takes. Its patterns are compiled once: anyone may ask for paths that
// are not there, without a key.

export interface PathIndex {
  /** Empty: there is no such path. */
  methodsOf(path: string): readonly string[];
}

/** Paths as OpenAPI has them: `{name}` is one segment, `{name*}` the rest. */
export function createPathIndex(endpoints: readonly { readonly path: string; readonly method: string }[]): PathIndex {
  const entries = endpoints.map(({ path, method }) => ({ pattern: patternOf(path), method }));
  return {
    methodsOf: (path) => entries.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method),
  };
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/\{\w+\*\}/, '.+').replace(/\{\w+\}/g, '[^/]+')}$`);
