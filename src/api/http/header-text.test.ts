import { expect, test } from 'vitest';
import { attachment, headerText } from './header-text.ts';

test.each([
  ['agent-step3.tar', 'attachment; filename="agent-step3.tar"'],
  ['агент.tar', `attachment; filename="_____.tar"; filename*=UTF-8''${encodeURIComponent('агент')}.tar`],
  ['a"\\(1).tar', `attachment; filename="a__(1).tar"; filename*=UTF-8''a%22%5C%281%29.tar`],
])('the file name %s stands in a header', (name, header) => {
  expect(attachment(name)).toBe(header);
});

test('a name of any script stands in a header, and can be read again', () => {
  const name = 'default/проект/模型é🙂:step0';
  expect(headerText(name)).toMatch(/^[\x21-\x7e]+$/);
  expect(decodeURIComponent(headerText(name))).toBe(name);
});
