// The versions of Node that run any command, and the platforms on which a server or a worker can run: those for which the package includes
// ONNX Runtime. Commands that only talk to a server run wherever Node does.
import { AppError } from '#domain/errors';

/** Names as in Node's `process.platform` and `process.arch`. */
const SUPPORTED_PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'win32-x64'] as const;

const IN_WORDS = 'Linux with glibc (x64, arm64), macOS on Apple silicon and Windows on x64';

export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** Null on systems other than Linux, and on a Linux with another C library such as musl. */
  readonly glibc: string | null;
}

/** Throws `engine_unavailable` with one sentence. */
export function refuseUnsupportedPlatform({ platform, arch, glibc }: Machine): void {
  const name = `${platform}-${arch}`;
  const isSupported = SUPPORTED_PLATFORMS.some((supported) => supported === name);
  if (isSupported && (platform !== 'linux' || glibc !== null)) return;
  const here = WORDS[name] ?? (platform === 'linux' && isSupported ? `Linux with musl (${arch})` : name);
  throw new AppError(
    'engine_unavailable',
    `Whetstone's engine does not run on ${here}: it runs on ${IN_WORDS}. Start the server there, and use this machine as its client with WHETSTONE_URL.`,
  );
}

const WORDS: Readonly<Record<string, string | undefined>> = {
  'darwin-x64': 'a Mac with an Intel processor',
  'win32-arm64': 'Windows on arm64',
};

/** Throws `engine_unavailable` with one sentence. npm only warns, and an older Node fails later in words that name no cause. */
export function refuseOldNode(version: string, min: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = min.split('.').map(Number);
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return;
  throw new AppError(
    'engine_unavailable',
    `Whetstone needs Node ${min} or newer, and this is Node ${version}. Install a newer one from https://nodejs.org.`,
  );
}

export function thisMachine(): Machine {
  Object.assign(process.report, { excludeNetwork: true }); // otherwise it looks up the name of every connection
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return { platform: process.platform, arch: process.arch, glibc: header.glibcVersionRuntime ?? null };
}
