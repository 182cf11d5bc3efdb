import { expect, test } from 'vitest';
import { createWebhookAddresses } from './webhook-address.ts';

const { urlFault, isRefusedAddress } = createWebhookAddresses([]);
const everything = createWebhookAddresses([
  { address: '0.0.0.0', prefixBits: 0 },
  { address: '::', prefixBits: 0 },
]);

test.each([
  'http://169.254.169.254/latest/meta-data',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://169.254.43518/',
  'http://169.254.170.2/',
  'http://[fe80::1]/',
  'http://[febf::1]:8080/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::169.254.169.254]/',
  'http://[::ffff:0:169.254.169.254]/',
  'http://[64:ff9b::169.254.169.254]/',
  'http://[64:ff9b:1::169.254.169.254]/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://[2001:db9::5efe:169.254.169.254]/',
  'http://[2001:0:102:304::5601:5601]/',
  'http://[2001:0:a9fe:a9fe::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fd00:ec2::23]/',
  'http://[fd20:ce::254]/',
  'http://[fd00:c1::a9fe:a9fe]/',
  'http://[fd00:42::42]/',
  'http://100.100.100.200/',
  'http://[::ffff:100.100.100.200]/',
  'http://192.0.0.192/',
  'http://168.63.129.16/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://METADATA.google.internal./',
  'http://metadata/',
])('%s is link-local or a metadata service, and refused whatever the operator allows', (url) => {
  expect(urlFault(url)).toContain('link-local or cloud metadata');
  expect(everything.urlFault(url)).toContain('link-local or cloud metadata');
});

test.each([
  'http://127.0.0.1:8080/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0/',
  'http://localhost:3000/',
  'http://LOCALHOST./',
  'http://api.localhost/',
  'http://10.0.0.7/',
  'http://172.31.0.1/',
  'http://192.168.1.1/',
  'http://100.64.0.1/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::127.0.0.1]/',
  'http://[::ffff:0:127.0.0.1]/',
  'http://[64:ff9b::10.0.0.1]/',
  'http://[64:ff9b:1::7f00:1]/',
  'http://[2001::1]/',
  'http://[2002:7f00:1::]/',
  'http://[2001:db9::5efe:127.0.0.1]/',
  'http://[2001:db9::200:5efe:10.0.0.1]/',
  'http://[fd00::1]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
])('%s is private and needs the operator’s permission', (url) => {
  expect(urlFault(url)).toContain('--allowed-webhook-network');
  expect(everything.urlFault(url)).toBeNull();
});

test('an allowed network allows only its own addresses, in every notation', () => {
  const { urlFault: fault } = createWebhookAddresses([
    { address: '127.0.0.0', prefixBits: 8 },
    { address: '64:ff9b::', prefixBits: 96 },
  ]);
  for (const url of [
    'http://127.0.0.1/',
    'http://localhost/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::8.8.8.8]/',
  ])
    expect(fault(url), url).toBeNull();
  for (const url of ['http://10.0.0.7/', 'http://[::1]/', 'http://[64:ff9b::10.0.0.7]/'])
    expect(fault(url), url).toContain('private');
});

test.each([
  ['nonsense', 'is not a URL'],
  ['/v1/hook', 'is not a URL'],
  ['ftp://example.com/', 'neither https: nor http:'],
  ['file:///etc/passwd', 'neither https: nor http:'],
  ['https://me@example.com/', 'user name or password'],
  ['https://:secret@example.com/', 'user name or password'],
  [`https://example.com/${'x'.repeat(2_000)}`, 'longer than 2000 characters'],
])('%.40s cannot be a webhook: %s', (url, fault) => expect(urlFault(url)).toContain(fault));

test.each([
  'https://example.com/hook?token=1',
  'http://8.8.8.8/',
  'http://[2606:4700::1111]/',
  'http://[::ffff:8.8.8.8]/',
  'http://localhost.example.com/',
])('%s can be a webhook', (url) => expect(urlFault(url)).toBeNull());

test('addresses are recognised in the forms that DNS returns', () => {
  for (const address of [
    '169.254.0.1',
    'fe80::1%eth0',
    '::ffff:169.254.1.1',
    '127.0.0.1',
    '10.1.2.3',
    '::1',
    'fec0::1',
  ])
    expect(isRefusedAddress(address), address).toBe(true);
  for (const address of ['169.253.255.255', '169.255.0.0', '2a00::1', '::ffff:1.1.1.1'])
    expect(isRefusedAddress(address), address).toBe(false);
});
