/** An engine that also closes its underlying resource, once. */
export function closingWith<T extends { close(): Promise<void> }>(engine: T, others: () => Promise<void>): T {
  let closing: Promise<void> | null = null;
  return new Proxy(engine, {
    get: (target, name) =>
      name === 'close' ? () => (closing ??= target.close().then(others)) : Reflect.get(target, name),
  });
}
