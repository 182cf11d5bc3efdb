import { blobContract } from '../../../test/support/contract/blobs.ts';
import { createMemoryBlobs } from './memory.ts';

blobContract('memory', async () => createMemoryBlobs());
