import { expect, test } from 'vitest';
import { readHello } from './handshake.ts';

test.each(['roles', 'sampler'])('a hello with a million entries in a list is refused without reading them: %s', (where) => {
  const million = new Array<string>(1_000_000).fill('nonsense');
  let read = 0;
  const counted = new Proxy(million, {
    get(list, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) read++;
      return Reflect.get(list, key) as unknown;
    },
  });
  const able = { constraints: counted, unsupportedSampling: counted };
  const hello = { kind: 'hello', protocol: 1, [where]: where === 'roles' ? counted : { capabilities: able } };
  expect(() => readHello(hello, new Map())).toThrow(/The hello message is invalid/);
  expect(read).toBe(0);
}); // prettier-ignore
