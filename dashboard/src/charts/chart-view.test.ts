import { expect, test } from 'vitest';
import { queryOf, readView } from './chart-view.ts';

test('what charts show is read back from the address that says it, and nonsense there counts as not said', () => {
  const said = 'x=time&smooth=0.6&scale=log&metric=loss&metric=a%26b&from=2&to=9.5&at=4';
  const view = readView(new URLSearchParams(said));
  expect(view).toEqual({
    ...{ axis: 'time', smoothing: 0.6, isLogarithmic: true, metrics: ['loss', 'a&b'] },
    ...{ range: { min: 2, max: 9.5 }, at: 4 },
  });
  const { metric, ...rest } = queryOf(view);
  expect(
    new URLSearchParams([...Object.entries(rest), ...metric!.map((each) => ['metric', each])] as string[][]),
  ).toEqual(new URLSearchParams('x=time&smooth=0.6&scale=log&from=2&to=9.5&at=4&metric=loss&metric=a%26b'));
  const plain = readView(new URLSearchParams());
  expect(readView(new URLSearchParams('x=up&smooth=2&from=9&to=2&at=now'))).toEqual(plain);
  expect(Object.values(queryOf(plain))).toEqual(Object.values(queryOf(plain)).map(() => null));
});
