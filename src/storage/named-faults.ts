// Stores whose failures are named: what their database or disk says becomes `storage_unavailable` with a cause.
import { storageFault } from '#domain/storage-fault';

/** The same object, whose promises fail with named faults; stores inside it as well. */
export function withNamedFaults<T extends object>(store: T): T {
  return new Proxy(store, {
    get(target, key) {
      const value = Reflect.get(target, key) as unknown;
      if (typeof value === 'function') {
        return (...args: unknown[]): unknown => {
          const result: unknown = Reflect.apply(value, target, args);
          return result instanceof Promise ? result.catch(rethrow) : result;
        };
      }
      return typeof value === 'object' && value !== null ? withNamedFaults(value) : value;
    },
  });
}

function rethrow(error: unknown): never {
  throw storageFault(error) ?? error;
}
