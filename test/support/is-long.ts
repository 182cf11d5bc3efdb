// Whether this is `npm run test:long`, which has more of the same than `npm run test:all`. Knows no tests.

export const IS_LONG = process.env['WHETSTONE_LONG'] === '1';
