import { expect, test } from 'vitest';
import { readHello } from './handshake.ts';

test.each(['roles', 'sampler'])('a long list in a hello is refused before its items are read: %s', (where) => {
  const list = new Array<string>(1_000).fill('nonsense');
  let read = 0;
  Object.defineProperty(list, 0, { enumerable: true, get: () => void read++ });
  const able = { constraints: list, unsupportedSampling: list };
  const hello = { kind: 'hello', protocol: 1, [where]: where === 'roles' ? list : { capabilities: able } };
  expect(() => readHello(hello, new Map())).toThrow(/The hello message is invalid/);
  expect(read).toBe(0);
});
