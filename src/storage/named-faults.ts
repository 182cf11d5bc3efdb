// Wraps stores so that failures of their database or disk become `storage_unavailable` with a cause.
import { aroundMethods } from '#base/around-methods';
import { storageFault } from '#domain/storage-fault';

/** Returns the same object with promises that reject with named faults; includes the stores inside it. */
export const withNamedFaults = <T extends object>(store: T): T =>
  aroundMethods(store, (_, call) => {
    const result = call();
    return result instanceof Promise ? result.catch(rethrow) : result;
  });

function rethrow(error: unknown): never {
  throw storageFault(error) ?? error;
}
