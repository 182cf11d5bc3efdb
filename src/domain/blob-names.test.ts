import { expect, test } from 'vitest';
import * as names from './blob-names.ts';

test('every name that is made is read back, under a root that is looked at', () => {
  const made = {
    [names.jobCheckpointBlob('m', 'j', 12)]: { kind: 'checkpoint', modelId: 'm', jobId: 'j' },
    ['checkpoints/m/j']: { kind: 'checkpoint', modelId: 'm', jobId: 'j' }, // of an older version
    [names.stepZeroBlob('m', 'fork')]: { kind: 'checkpoint', modelId: 'm', jobId: 'fork' },
    [names.jobBodyBlob('j')]: { kind: 'job', jobId: 'j' },
    [names.jobPreparationBlob('j')]: { kind: 'job', jobId: 'j' },
    [names.progressPointerBlob('j')]: { kind: 'job', jobId: 'j' },
    [names.progressStateBlob('j', 3)]: { kind: 'job', jobId: 'j' },
    [names.evaluationBodyBlob('m', 'j')]: { kind: 'evaluation', modelId: 'm', jobId: 'j' },
    [names.answersBlob('m', 'j', 3)]: { kind: 'evaluation', modelId: 'm', jobId: 'j' },
    [names.logBlob('m', 'l')]: { kind: 'log', modelId: 'm' },
    [names.tinkerStateBlob('m', 3, 1)]: { kind: 'tinker', modelId: 'm' },
    [names.tinkerCheckpointBlob('m', 3, 1)]: { kind: 'checkpoint', modelId: 'm', jobId: 'tinker-3' },
    [names.artifactBlob('a')]: null,
    [names.responseBlob('resp_1', 0)]: null,
  };
  for (const [blob, owner] of Object.entries(made)) {
    expect(names.parseBlobOwner(blob), blob).toEqual(owner);
    expect(names.BLOB_ROOTS).toContain(blob.split('/')[0]);
  }
});

test('blobs that are deleted together have one unit', () => {
  expect(names.blobUnit(`${names.jobCheckpointBlob('m', 'j', 12)}/adapter_config.json`)).toBe('checkpoints/m/j.12');
  expect(names.blobUnit(`${names.progressStateBlob('j', 3)}/optimizer.safetensors`)).toBe(names.jobProgressBlobs('j'));
  expect(names.blobUnit(names.jobBodyBlob('j'))).toBe('jobs/j/body.jsonl');
});
