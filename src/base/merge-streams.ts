// Reads several streams as one, in order of arrival, asking each stream for one value ahead. Does not know what the values are.

/** Yields values with the index of their stream. The first failure, or leaving the loop, ends all streams. */
export async function* mergeStreams<T>(streams: readonly AsyncIterable<T>[]): AsyncGenerator<readonly [number, T]> {
  const iterators = streams.map((stream) => stream[Symbol.asyncIterator]());
  const arrived: (() => readonly [number, IteratorResult<T>])[] = [];
  let wake = () => {};

  function ask(index: number): void {
    const arrive = (what: (typeof arrived)[number]) => {
      arrived.push(what);
      wake();
    };
    iterators[index]!.next().then(
      (result) => arrive(() => [index, result]),
      (error: unknown) =>
        arrive(() => {
          throw error;
        }),
    );
  }

  try {
    for (const index of iterators.keys()) ask(index);
    for (let open = iterators.length; open > 0;) {
      while (arrived.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      const [index, result] = arrived.shift()!();
      if (result.done) {
        open--;
        continue;
      }
      ask(index);
      yield [index, result.value];
    }
  } finally {
    await Promise.allSettled(iterators.map(async (iterator) => iterator.return?.()));
  }
}
