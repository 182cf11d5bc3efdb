import { expect, test } from 'vitest';
import { NODE_MIN } from '#config/version';
import { refuseOldNode, refuseUnsupportedPlatform, thisMachine } from './supported-platform.ts';

test.each([
  ['linux', 'x64', '2.36'],
  ['linux', 'arm64', '2.36'],
  ['darwin', 'arm64', null],
  ['win32', 'x64', null],
])('%s on %s is supported', (platform, arch, glibc) => {
  expect(() => refuseUnsupportedPlatform({ platform, arch, glibc })).not.toThrow();
});

test.each([
  ['linux', 'x64', 'Linux with musl (x64)'],
  ['darwin', 'x64', 'a Mac with an Intel processor'],
  ['win32', 'arm64', 'Windows on arm64'],
  ['freebsd', 'x64', 'freebsd-x64'],
])('%s on %s is refused by name', (platform, arch, name) => {
  expect(() => refuseUnsupportedPlatform({ platform, arch, glibc: null })).toThrow(
    `does not run on ${name}: it runs on`,
  );
});

test('the machine that runs the tests is supported', () => {
  expect(() => refuseUnsupportedPlatform(thisMachine())).not.toThrow();
});

test('an older Node is told which one is needed', () => {
  expect(() => refuseOldNode('18.20.4', '20.19')).toThrow(
    'Whetstone needs Node 20.19 or newer, and this is Node 18.20.4.',
  );
  expect(() => refuseOldNode('20.18.3', '20.19')).toThrow('this is Node 20.18.3');
  for (const version of ['20.19.0', '22.0.0', process.versions.node])
    expect(() => refuseOldNode(version, NODE_MIN)).not.toThrow();
});
