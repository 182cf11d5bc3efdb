// Where webhooks may not go: link-local addresses, behind which clouds keep their machines' credentials, in all the ways to
// write them. Other private addresses are allowed: a self-hosted receiver usually has one. Asked when a webhook is made, and
// of every address that its name turns out to have when something is sent.
import { BlockList, isIP } from 'node:net';

export const URL_LENGTH_MAX = 2_000;

const REFUSED = new BlockList();
REFUSED.addSubnet('169.254.0.0', 16, 'ipv4'); // as ::ffff:169.254.0.0 as well
REFUSED.addSubnet('fe80::', 10, 'ipv6');
REFUSED.addSubnet('::a9fe:0', 112, 'ipv6'); // 169.254.0.0/16 in the old IPv4-compatible form,
REFUSED.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6'); // through NAT64
REFUSED.addSubnet('2002:a9fe::', 32, 'ipv6'); // and 6to4
REFUSED.addAddress('fd00:ec2::254', 'ipv6'); // AWS
REFUSED.addAddress('fd20:ce::254', 'ipv6'); // Google Cloud
REFUSED.addAddress('100.100.100.200', 'ipv4'); // Alibaba Cloud
REFUSED.addAddress('192.0.0.192', 'ipv4'); // Oracle Cloud

const REFUSED_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'instance-data',
  'instance-data.ec2.internal',
]);

/** `address`: as DNS gives it, perhaps with a zone (`fe80::1%eth0`). */
export function isRefusedAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, '');
  const family = isIP(bare);
  return family !== 0 && REFUSED.check(bare, family === 6 ? 'ipv6' : 'ipv4');
}

/** A name, or an address as URLs write it. */
export function isRefusedHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/^\[|\]$|\.+$/g, '');
  return REFUSED_NAMES.has(host) || isRefusedAddress(host);
}

/** What is wrong with it, for whoever gave it; null: nothing. */
export function urlFault(text: string): string | null {
  if (text.length > URL_LENGTH_MAX) return `is longer than ${URL_LENGTH_MAX} characters`;
  if (!URL.canParse(text)) return 'is not a URL';
  const { protocol, username, password, hostname } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return 'begins with neither https: nor http:';
  if (username !== '' || password !== '') return 'holds a user name or password; receivers check the signature instead';
  if (isRefusedHost(hostname)) return 'names a link-local or cloud metadata address, where webhooks may not go';
  return null;
}
