import { blobContract } from '../../test/contract/blobs.ts';
import { storageContract } from '../../test/contract/storage.ts';
import { createMemoryBlobs, createMemoryStorage } from './memory.ts';

storageContract('memory', async () => createMemoryStorage());
blobContract('memory', async () => createMemoryBlobs());
