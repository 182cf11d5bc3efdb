// The part of Storage that the property test compares.
import type { Storage } from '#storage/storage';

export interface TestedStorage {
  readonly models: Pick<Storage['models'], 'create' | 'list' | 'delete'>;
  readonly checkpoints: Pick<Storage['checkpoints'], 'findLatest' | 'list' | 'mergeMetrics' | 'delete'>;
  readonly jobs: Pick<
    Storage['jobs'],
    | 'create'
    | 'list'
    | 'count'
    | 'claim'
    | 'renewLease'
    | 'releaseLeases'
    | 'assignStep'
    | 'updateProgress'
    | 'noteWaiting'
    | 'finish'
    | 'requestCancel'
  >;
  readonly events: Pick<Storage['events'], 'append' | 'list' | 'first' | 'count'>;
  readonly usage: Pick<Storage['usage'], 'add' | 'list'>;
  readonly accounts: Pick<Storage['accounts'], 'storedBytes'>;
  readonly episodes: Storage['episodes'];
  readonly inventory: Pick<Storage['inventory'], 'episodes' | 'storedBlobs'>;
  readonly idempotency: Pick<Storage['idempotency'], 'begin' | 'complete' | 'release' | 'releaseAll'>;
}
