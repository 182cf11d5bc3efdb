import { expect, test } from 'vitest';
import { firstSegments, runLink } from './run-links.ts';

const taken = firstSegments([{ path: '/v1/runs' }, { path: '/files/{entity}/{project}' }, { path: '/' }]);
const linkOf = (path: string, accept: string | undefined = 'text/html,*/*;q=0.8', method = 'GET') =>
  runLink({ method, path, accept }, taken);

test('the printed links lead to the project and to the run, relative to where they were asked for', () => {
  expect(linkOf('/team/demo')).toBe('../#/runs/team/demo');
  expect(linkOf('/team/demo/runs/a%20b')).toBe('../../../#/runs/team/demo/a%20b');
  expect(linkOf('/team/demo/runs/r1/workspace')).toBe('../../../../#/runs/team/demo/r1');
  expect(linkOf('/team/demo/workspace')).toBe('../../#/runs/team/demo');
  expect(linkOf('/team/demo/')).toBe('../../#/runs/team/demo');
});

test('other paths, paths of the API, other methods and programs are not led anywhere', () => {
  for (const path of ['/v1/threads', '/v1/p/runs/r', '/files/p', '/team', '/team/demo/sweeps/x', '/team/demo/runs'])
    expect(linkOf(path)).toBeNull();
  expect(linkOf('/team/demo', 'application/json')).toBeNull();
  expect(linkOf('/team/demo', '*/*')).toBeNull();
  expect(linkOf('/team/demo', undefined, 'POST')).toBeNull();
});
