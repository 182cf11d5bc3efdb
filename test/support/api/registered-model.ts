// Setup for tests of models, checkpoints and jobs: a registered model; and a reader for pages of a list.
import { expect } from 'vitest';
import { BASE, send, type TestServer } from './test-server.ts';

export async function register(server: TestServer, name: string, project = 'p'): Promise<string> {
  const response = await send(server, { url: '/v1/preview/models', body: { project, name, base_model: BASE } });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<{ id: string }>().id;
}

export interface List {
  object: string;
  data: { id: string; step?: number; type?: string }[];
  first_id: string;
  last_id: string;
  has_more: boolean;
}
