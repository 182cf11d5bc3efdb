import { expect, test } from 'vitest';
import { isRefusedAddress, urlFault } from './webhook-address.ts';

test.each([
  'http://169.254.169.254/latest/meta-data',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://169.254.43518/',
  'http://[fe80::1]/',
  'http://[febf::1]:8080/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::169.254.169.254]/',
  'http://[64:ff9b::169.254.169.254]/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://[fd00:ec2::254]/',
  'http://100.100.100.200/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://METADATA.google.internal./',
  'http://metadata/',
])('%s is link-local or a metadata service', (url) => expect(urlFault(url)).toContain('link-local or cloud metadata'));

test.each([
  ['nonsense', 'is not a URL'],
  ['/v1/hook', 'is not a URL'],
  ['ftp://example.com/', 'neither https: nor http:'],
  ['file:///etc/passwd', 'neither https: nor http:'],
  ['https://me@example.com/', 'user name or password'],
  ['https://:secret@example.com/', 'user name or password'],
  [`https://example.com/${'x'.repeat(2_000)}`, 'longer than 2000 characters'],
])('%.40s cannot be a webhook: %s', (url, fault) => expect(urlFault(url)).toContain(fault));

test.each(['https://example.com/hook?token=1', 'http://127.0.0.1:8080/', 'http://[::1]/', 'http://receiver.local:3000/', 'http://10.0.0.7/', 'http://[fd00::1]/'])(
  '%s can be one',
  (url) => expect(urlFault(url)).toBeNull(),
); // prettier-ignore

test('addresses are recognised as DNS gives them', () => {
  for (const address of ['169.254.0.1', 'fe80::1%eth0', '::ffff:169.254.1.1']) expect(isRefusedAddress(address)).toBe(true); // prettier-ignore
  for (const address of ['127.0.0.1', '10.1.2.3', '::1', '169.253.255.255', '169.255.0.0', 'fec0::1', 'not an address'])
    expect(isRefusedAddress(address)).toBe(false);
});
