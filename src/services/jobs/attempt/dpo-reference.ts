// Log-probabilities of a DPO job's answers under its starting policy: computed once, before the first gradient step, and kept in the blob
// store until the job ends, so that a resumed job continues with the same numbers on any trainer.
import { jobPreparationBlob } from '#domain/blob-names';
import { DEFAULT_LORA } from '#domain/lora-config';
import { scoreReference, type DpoPlan, type ReferenceScores } from '#training/dpo-job';
import { getCheckpointFiles } from '../../models/checkpoint-files.ts';
import type { WorkContext } from './job-work.ts';
import { parseSealedJson, sealJson } from '../data/sealed-json.ts';

/** Null: `goesOn` returned false. */
export async function prepareReference(
  { job, start, engine, blobs }: Pick<WorkContext, 'job' | 'start' | 'engine' | 'blobs'>,
  plan: DpoPlan,
  goesOn: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<ReferenceScores | null> {
  const saved = await blobs.find(jobPreparationBlob(job.id));
  const opened = saved && parseSealedJson<ReferenceJson>(saved); // null if damaged: then computed again
  if (opened && opened.value.rowsDigest === plan.digest) return fromJson(opened.value);
  const from = await getCheckpointFiles(blobs, start);
  const options = { from, lora: DEFAULT_LORA, resetOptimizer: false, headTokensMax: null };
  const session = await engine.open(options, signal);
  try {
    const reference = await scoreReference(session, plan, goesOn);
    if (reference) await blobs.put(jobPreparationBlob(job.id), sealJson(toJson(reference, plan.digest)));
    return reference;
  } finally {
    await session.close();
  }
}

/** Exact: float64 as base64. */
interface ReferenceJson {
  readonly batches: readonly string[];
  readonly validation: string;
  readonly rowsDigest: string;
}

const toJson = ({ batches, validation }: ReferenceScores, rowsDigest: string): ReferenceJson => ({
  batches: batches.map(encode),
  validation: encode(validation),
  rowsDigest,
});

const fromJson = ({ batches, validation }: ReferenceJson): ReferenceScores => ({
  batches: batches.map(decode),
  validation: decode(validation),
});

const encode = ({ buffer, byteOffset, byteLength }: Float64Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');
const decode = (text: string): Float64Array => new Float64Array(new Uint8Array(Buffer.from(text, 'base64')).buffer);
