// The one door to ONNX Runtime. From version 1.30 the library reports its use: it looks up a host on the Internet, keeps a store
// under the home directory's cache and writes a file of a predictable name into the temporary directory. Whether it does is
// decided when it is loaded, so whoever needs the library takes it from here. It lies in dist/onnxruntime, where the build
// puts it and the package carries it (decision 36); that is the same place for the sources and for what is built from them.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { AppError } from '#domain/errors';
import type * as onnx from 'onnxruntime-common';

const LIBRARY = fileURLToPath(new URL('../../../../dist/onnxruntime/dist/index.js', import.meta.url));
if (!existsSync(LIBRARY))
  throw new AppError('engine_unavailable', `ONNX Runtime is missing in ${LIBRARY}. In a checkout: npm run build.`);

process.env['ORT_DISABLE_TELEMETRY'] = '1';

export const { InferenceSession, Tensor } = createRequire(import.meta.url)(LIBRARY) as typeof onnx;
