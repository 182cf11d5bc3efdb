// Why a test is skipped here: the reason goes into its metadata, from which scripts/skip-reporter.ts lists it at the end of the
// run. A program that CI declares as installed (WHETSTONE_REQUIRE_…) may not be the reason: the file fails. Knows no tests.
import type { TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    skipReason?: string;
  }
}

/** Options of a test or of a suite: it is skipped unless `runs`. */
export const skipUnless = (runs: boolean, skipReason: string): TestOptions =>
  runs ? {} : { skip: true, meta: { skipReason } };

/** In `npm run test:long`, which has more of the same than `npm run test:all`. */
export const IS_LONG = process.env['WHETSTONE_LONG'] === '1';

/** For what `npm run test:long` has beside `test:all`: the same with other versions, libraries or models, where one of each is enough. */
export const skipUnlessLong = (): TestOptions => skipUnless(IS_LONG, 'npm run test:long has it (WHETSTONE_LONG=1)');

/** By the name that makes its absence a failure: WHETSTONE_REQUIRE_NAME. */
const PROGRAMS = {
  AGENTS: 'Claude Code and Codex are not installed (npm install --prefix test/support/agents)',
  CHROMIUM: 'Chromium is not installed (package chromium)',
  CURL: 'curl is not installed (package curl)',
  LLAMA_CPP: 'llama.cpp is not installed (npm install --prefix bench/peers --ignore-scripts)',
  POSTGRES: 'Postgres is not installed (package postgresql)',
  RUNTIMES: 'Bun and Deno are not installed (npm install --prefix test/support/runtimes --ignore-scripts)',
  STRACE: 'strace is not installed, or may not trace (package strace)',
  SYSTEMD: 'systemd-analyze is not installed (package systemd)',
  URLLIB: 'Python is not installed (package python3)',
};

export const skipWithout = (program: keyof typeof PROGRAMS, isThere: boolean): TestOptions =>
  isThere ? {} : skipUnless(false, missing(program));

/** The reason for a skip. Throws if the program is required. */
export function missing(program: keyof typeof PROGRAMS): string {
  const variable = `WHETSTONE_REQUIRE_${program}`;
  if (process.env[variable]) throw new Error(`${PROGRAMS[program]}, but ${variable} is set.`);
  return PROGRAMS[program];
}

/** An interpreter by its environment variable, and the name of its environment in scripts/python-env.sh. */
const PYTHONS = {
  WHETSTONE_PYTHON: 'golden',
  WHETSTONE_ART_PYTHON: 'art',
  WHETSTONE_CLIENTS_PYTHON: 'clients',
  WHETSTONE_DEPLOY_PYTHON: 'deploy',
  WHETSTONE_FRAMEWORKS_PYTHON: 'frameworks',
  WHETSTONE_RAY_PYTHON: 'ray',
  WHETSTONE_SDKS_PYTHON: 'sdks',
  WHETSTONE_TINKER_PYTHON: 'tinker',
  WHETSTONE_VLLM_PYTHON: 'vllm',
  WHETSTONE_WORKER_PYTHON: 'worker',
};

/** Skipped unless all of them name an interpreter. */
export function skipWithoutPython(...variables: readonly (keyof typeof PYTHONS)[]): TestOptions {
  const unset = variables.filter((variable) => !process.env[variable]);
  const reasons = unset.map((variable) => `${variable} is not set (scripts/python-env.sh ${PYTHONS[variable]})`);
  return skipUnless(unset.length === 0, reasons.join(' and '));
}

/** For tests that read /proc. */
export const skipOutsideLinux = (): TestOptions => skipUnless(process.platform === 'linux', 'this is not Linux');
