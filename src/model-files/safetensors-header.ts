// The header of a .safetensors file: 8 bytes of length (little endian), then JSON that maps tensor names to dtype,
// shape and byte range. Checked as strictly as by the reference reader: ranges follow each other without gap or overlap
// and end where the file ends, so a truncated download is detected when it is opened and not in the middle of loading.
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import { shown } from './shown.ts';

/**
 * A third of the reference reader's limit, and ten times what 19,000 tensors in one file need: a header is parsed at once, and nothing else
 * happens meanwhile. Without a limit a broken length would make us allocate the length of the file.
 */
export const MAX_HEADER_BYTES = 32 * 2 ** 20;

const BYTES_PER_ELEMENT: Readonly<Record<string, number>> = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E5M2: 1,
  F8_E4M3: 1,
  F8_E8M0: 1,
  F8_E4M3FNUZ: 1,
  F8_E5M2FNUZ: 1,
  U16: 2,
  I16: 2,
  F16: 2,
  BF16: 2,
  U32: 4,
  I32: 4,
  F32: 4,
  U64: 8,
  I64: 8,
  F64: 8,
};

export interface TensorEntry {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** From the start of the file, bytes. */
  readonly start: number;
  readonly byteLength: number;
}

/** `json` is the header without its length; `dataStart` is where the tensors' bytes begin in the file. */
export function parseSafetensorsHeader(
  json: Uint8Array,
  file: { readonly path: string; readonly dataStart: number; readonly byteLength: number },
): ReadonlyMap<string, TensorEntry> {
  const header = parseObject(json, file.path);
  const entries = Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, value]) => parseEntry(name, value, file))
    .sort((a, b) => a.start - b.start || a.byteLength - b.byteLength);
  let end = file.dataStart;
  for (const entry of entries) {
    if (entry.start !== end) {
      const fault = entry.start < end ? 'overlaps the tensor before it' : 'leaves a gap after the tensor before it';
      throw badTensor(file.path, entry.name, `its bytes begin at ${entry.start}, which ${fault} (ends at ${end})`);
    }
    end = entry.start + entry.byteLength;
  }
  if (end !== file.byteLength) {
    throw badFile(file.path, `the header describes ${end} bytes but the file has ${file.byteLength}`);
  }
  return new Map(entries.map((entry) => [entry.name, entry]));
}

function parseObject(json: Uint8Array, path: string): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json));
  } catch (cause) {
    throw badFile(path, 'its header is not valid JSON', cause);
  }
  if (!isObject(header)) throw badFile(path, 'its header is not a JSON object');
  return header;
}

function parseEntry(
  name: string,
  value: unknown,
  file: { path: string; dataStart: number; byteLength: number },
): TensorEntry {
  if (!isObject(value)) throw badTensor(file.path, name, 'its header entry is not an object');
  const { dtype, shape, data_offsets: offsets } = value;
  const bytesPerElement =
    typeof dtype === 'string' && Object.hasOwn(BYTES_PER_ELEMENT, dtype) ? BYTES_PER_ELEMENT[dtype] : undefined;
  if (typeof dtype !== 'string' || bytesPerElement === undefined)
    throw badTensor(file.path, name, `unknown dtype ${shown(dtype)}`);
  if (!isNaturals(shape)) throw badTensor(file.path, name, `its shape is ${shown(shape)}, not a list of sizes`);
  if (!isNaturals(offsets) || offsets.length !== 2)
    throw badTensor(file.path, name, `its data_offsets are ${shown(offsets)}`);
  const [begin, end] = offsets as readonly [number, number];
  if (begin > end || file.dataStart + end > file.byteLength) {
    throw badTensor(
      file.path,
      name,
      `its bytes ${begin}…${end} lie outside the ${file.byteLength - file.dataStart} data bytes of the file`,
    );
  }
  const expected = shape.reduce((product, size) => product * size, bytesPerElement);
  if (expected !== end - begin) {
    throw badTensor(
      file.path,
      name,
      `${dtype} [${shape.join(', ')}] needs ${expected} bytes, its data_offsets hold ${end - begin}`,
    );
  }
  return { name, dtype, shape, start: file.dataStart + begin, byteLength: expected };
}

const isNaturals = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && (item as number) >= 0);

export const badFile = (path: string, fault: string, cause?: unknown): AppError =>
  new AppError('bad_model_files', `Cannot read ${path}: ${fault}. Download or export it again.`, { cause });

export const badTensor = (path: string, tensor: string, fault: string): AppError =>
  new AppError('bad_model_files', `Cannot read tensor ${tensor} of ${path}: ${fault}.`);
