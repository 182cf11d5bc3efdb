// The methods of a path, found without compiling anything again.
import { expect, test, vi } from 'vitest';
import { createPathIndex } from './path-index.ts';

const ENDPOINTS = [
  { path: '/v1/models', method: 'GET' },
  { path: '/v1/models/{id}', method: 'GET' },
  { path: '/v1/models/{id}', method: 'DELETE' },
  { path: '/files/{path*}', method: 'GET' },
];

test('a path takes the methods of its endpoints', () => {
  const index = createPathIndex(ENDPOINTS);
  expect(index.methodsOf('/v1/models')).toEqual(['GET']);
  expect(index.methodsOf('/v1/models/a')).toEqual(['GET', 'DELETE']);
  expect(index.methodsOf('/v1/models/a/b')).toEqual([]);
  expect(index.methodsOf('/files/a/b/c')).toEqual(['GET']);
});

test('no pattern is compiled for a request', () => {
  const index = createPathIndex(ENDPOINTS);
  const compile = vi.spyOn(globalThis, 'RegExp');
  for (let i = 0; i < 100; i++) index.methodsOf(`/nothing/${i}`);
  expect(compile).not.toHaveBeenCalled();
  compile.mockRestore();
});
