import { expect, test } from 'vitest';
import { withoutRoutes } from './client.ts';

test.each([
  ['No model m-1. List yours with GET /v1/preview/models, or register it with POST.', 'No model m-1.'],
  ['The model `p/m` does not exist. GET /v1/models lists the available ones.', 'The model `p/m` does not exist.'],
  ['The answer is over its budget: ask for less.', 'The answer is over its budget: ask for less.'],
  ['Use POST /v1/preview/models.', 'Use POST /v1/preview/models.'],
])('a page shows %s as %s', (told, shown) => expect(withoutRoutes(told)).toBe(shown));
