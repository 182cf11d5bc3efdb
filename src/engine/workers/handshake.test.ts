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

test('a worker may lack options that only newer servers have', () => {
  const sha256 = '0'.repeat(64);
  const model = { id: 'm', configSha256: sha256, tokenizerSha256: sha256 };
  const sizes = { contextLength: 8, vocabSize: 8 };
  const capabilities = {
    exactReplay: false,
    constraints: ['regex', 'telepathy'],
    promptLogprobs: true,
    precision: 'float32',
    unsupportedSampling: ['topK', 'optionOfNextYear'],
  };
  const hello = {
    ...{ kind: 'hello', protocol: 1, session: null, model, roles: ['sample'], trainer: null },
    worker: { id: 'w', name: 'w', version: '9' },
    sampler: { ...sizes, sequencesMax: 1, adaptersMax: 1, capabilities },
  };
  const read = readHello(hello, new Map([['m', { ...model, ...sizes }]]));
  expect(read.sampler?.capabilities).toMatchObject({ constraints: ['regex'], unsupportedSampling: ['topK'] });
});
