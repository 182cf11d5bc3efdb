// Several streams read as one: what comes first is passed on first, and each stream is asked for one value ahead. Knows nothing of
// what the values are.

/** Values with the index of their stream. The first failure ends all; leaving the loop does too. */
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
