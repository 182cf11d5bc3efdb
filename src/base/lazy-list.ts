// Lists whose entries are made when they are read: an answer may have millions, each an object of its own. Not for JSON.stringify, which
// would need them all at once: api/http/large-answer.ts writes them.

export class LazyList<T> implements Iterable<T> {
  readonly #parts: readonly Iterable<T>[];

  constructor(...parts: readonly Iterable<T>[]) {
    this.#parts = parts;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const part of this.#parts) yield* part;
  }
}

/** As `items.map(make)`; `make` is called for an item each time that it is read. */
export function lazily<T, R>(items: Iterable<T>, make: (item: T) => R): LazyList<R> {
  return new LazyList({
    *[Symbol.iterator]() {
      for (const item of items) yield make(item);
    },
  });
}
