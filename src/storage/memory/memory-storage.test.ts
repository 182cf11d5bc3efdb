import { storageContract } from '../../../test/contract/storage.ts';
import { createMemoryStorage } from './memory-storage.ts';

storageContract('memory', async () => createMemoryStorage());
