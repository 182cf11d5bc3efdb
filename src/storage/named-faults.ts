// Stores whose failures are named: what their database or disk says becomes `storage_unavailable` with a cause.
import { aroundMethods } from '#base/around-methods';
import { storageFault } from '#domain/storage-fault';

/** The same object, whose promises fail with named faults; stores inside it as well. */
export const withNamedFaults = <T extends object>(store: T): T =>
  aroundMethods(store, (_, call) => {
    const result = call();
    return result instanceof Promise ? result.catch(rethrow) : result;
  });

function rethrow(error: unknown): never {
  throw storageFault(error) ?? error;
}
