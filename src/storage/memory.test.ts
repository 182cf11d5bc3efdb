import { storageContract } from '../../test/contract/storage.ts';
import { createMemoryStorage } from './memory.ts';

storageContract('memory', async () => createMemoryStorage());
