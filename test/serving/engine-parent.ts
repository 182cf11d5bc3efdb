// A process that opens an engine, prints the pid of its child, and lives until it is killed.
import { openInferenceEngine } from '#engine/onnx/open-engines';
import { createRecordingLog, pidOf } from './recording-log.ts';

const log = createRecordingLog();
await openInferenceEngine({ modelDirectory: process.argv[2]!, threads: 1, log });
console.log(pidOf(log));
