// Keeps a server's memory near what it uses. On a machine with much memory V8 lets garbage grow to several times the live heap:
// 64 MB of live objects took 120 to 220 MB under 512 streams, which looks like a leak and crowds out the engines. Collecting
// when garbage reaches half the live size costs next to nothing: per-token objects are short-lived. Only for a server's own process.
import { setFlagsFromString } from 'node:v8';

const GARBAGE_PERCENT = 50; // of the live heap

export const keepHeapSteady = (): void => setFlagsFromString(`--heap-growing-percent=${GARBAGE_PERCENT}`);
