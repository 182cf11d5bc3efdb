import { blobContract } from '../../../test/contract/blobs.ts';
import { createMemoryBlobs } from './memory.ts';

blobContract('memory', async () => createMemoryBlobs());
