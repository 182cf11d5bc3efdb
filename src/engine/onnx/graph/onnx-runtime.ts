// The only import of ONNX Runtime. From version 1.30 the library reports its use: it looks up a host on the Internet, keeps a store
// under the home directory's cache and writes a file of a predictable name into the temporary directory. Whether it does so is
// decided when it is loaded, so all code must import it from here. It is in dist/onnxruntime, where the build
// puts it and the package ships it (decision 36); sources and built code use the same copy.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { AppError } from '#domain/errors';
import type * as onnx from 'onnxruntime-common';

const LIBRARY = fileURLToPath(new URL('../../../../dist/onnxruntime/dist/index.js', import.meta.url));
if (!existsSync(LIBRARY))
  throw new AppError('engine_unavailable', `ONNX Runtime is missing in ${LIBRARY}. In a checkout, run: npm run build.`);

process.env['ORT_DISABLE_TELEMETRY'] = '1';

export const { InferenceSession, Tensor } = createRequire(import.meta.url)(LIBRARY) as typeof onnx;
