// A process that opens an engine, prints the pid of its child, and lives until it is killed.
import { openInferenceEngine } from '#engine/onnx/open-engines';
import { createRecordingLog, pidOf } from '../../support/serving/recording-log.ts';
import { TEST_LIMITS } from '../../support/serving/test-limits.ts';

const log = createRecordingLog();
await openInferenceEngine({ modelDirectory: process.argv[2]!, threads: 1, limits: TEST_LIMITS, log });
console.log(pidOf(log));
