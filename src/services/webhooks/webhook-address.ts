// Where webhooks may go: to public addresses, and to private ones that the operator allows; never to link-local addresses and cloud
// metadata services, which give out the machine's credentials. Checked when a webhook is created, and for every address that its name
// resolves to when a call is sent.
import { BlockList, isIP } from 'node:net';
import { isLoopback } from '#base/loopback';
import type { Network } from '#domain/network';

const URL_LENGTH_MAX = 2_000;

export interface WebhookAddresses {
  /** The reason for a refusal, for the webhook's owner; null: it is allowed. */
  readonly urlFault: (url: string) => string | null;
  /** A name, or an address as URLs write it. Names may still resolve to a refused address. */
  readonly isRefusedHost: (hostname: string) => boolean;
  /** As DNS returns it, perhaps with a zone (`fe80::1%eth0`). */
  readonly isRefusedAddress: (address: string) => boolean;
}

const NEVER = networks([
  '169.254.0.0/16', // AWS, Azure, Google, Oracle, OpenStack and most others
  'fe80::/10',
  'fd00:ec2::/32', // AWS
  'fd20:ce::254/128', // Google Cloud
  'fd00:c1::a9fe:a9fe/128', // Oracle Cloud
  'fd00:42::42/128', // Scaleway
  '100.100.100.200/32', // Alibaba Cloud
  '192.0.0.192/32', // Oracle Cloud
  '168.63.129.16/32', // Azure
]);

/** IANA's special-purpose registries: ranges that are not global, or embed another address. */
const PRIVATE = networks([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
  ...['::/96', '100::/64', '2001:db8::/32', '3fff::/20', '5f00::/16', 'fc00::/7', 'fec0::/10', 'ff00::/8'],
  '::ffff:0:0:0/96', // SIIT
  '64:ff9b::/96', // NAT64
  '64:ff9b:1::/48', // NAT64 of a network's own
  '2001::/32', // Teredo
  '2002::/16', // 6to4
]);

const NEVER_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'metadata.packet.net',
  'instance-data',
  'instance-data.ec2.internal',
]);

export function createWebhookAddresses(allowed: readonly Network[]): WebhookAddresses {
  const permitted = new BlockList();
  for (const { address, prefixBits } of allowed) permitted.addSubnet(address, prefixBits, familyOf(address));

  type Verdict = 'public' | 'private' | 'never';

  function judge(address: string): Verdict {
    const forms = [address, ...embedded(address)];
    if (forms.some((form) => NEVER.check(form, familyOf(form)))) return 'never';
    const isClosed = (form: string) => PRIVATE.check(form, familyOf(form)) && !permitted.check(form, familyOf(form));
    return forms.some(isClosed) ? 'private' : 'public';
  }

  function judgeHost(hostname: string): Verdict {
    const host = hostname.toLowerCase().replace(/^\[|\]$|\.+$/g, '');
    if (NEVER_NAMES.has(host)) return 'never';
    if (isIP(host) !== 0) return judge(host);
    if (!isLoopback(host)) return 'public';
    return judge('127.0.0.1') === 'public' ? 'public' : judge('::1'); // resolvers give one or both of them
  }

  return {
    isRefusedAddress: (address) => judge(address.replace(/%.*$/, '')) !== 'public',
    isRefusedHost: (hostname) => judgeHost(hostname) !== 'public',
    urlFault(text) {
      if (text.length > URL_LENGTH_MAX) return `is longer than ${URL_LENGTH_MAX} characters`;
      if (!URL.canParse(text)) return 'is not a URL';
      const { protocol, username, password, hostname } = new URL(text);
      if (protocol !== 'https:' && protocol !== 'http:') return 'starts with neither https: nor http:';
      if (username !== '' || password !== '')
        return 'contains a user name or password; receivers check the signature instead';
      const verdict = judgeHost(hostname);
      if (verdict === 'never') return 'names a link-local or cloud metadata address, where webhooks may not go';
      if (verdict === 'private')
        return 'names a private address, where webhooks go only if the operator allows it (--allowed-webhook-network)';
      return null;
    },
  };
}

function networks(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [address, bits] = text.split('/');
    list.addSubnet(address!, Number(bits), familyOf(address!));
  }
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** The IPv4 addresses that an IPv6 address embeds, in any of the forms for mapping and tunnelling. */
function embedded(address: string): string[] {
  if (isIP(address) !== 6) return [];
  const groups = groupsOf(address);
  const at = (index: number, mask = 0) => dotted(groups[index]! ^ mask, groups[index + 1]! ^ mask);
  const beginsWith = (...first: readonly number[]) => first.every((group, index) => groups[index] === group);
  if (beginsWith(0x2002)) return [at(1)];
  if (beginsWith(0x2001, 0)) return [at(2), at(6, 0xffff)]; // Teredo: its server, and its client inverted
  const isIsatap = groups[5] === 0x5efe && (groups[4] === 0 || groups[4] === 0x200); // RFC 5214 §6.1
  const isTranslated = beginsWith(0x64, 0xff9b) || beginsWith(0, 0, 0, 0, 0xffff, 0);
  const isMapped = beginsWith(0, 0, 0, 0, 0, 0xffff) || (beginsWith(0, 0, 0, 0, 0, 0) && groups[6] !== 0);
  return isIsatap || isTranslated || isMapped ? [at(6)] : [];
}

const dotted = (high: number, low: number): string => [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');

/** Eight numbers of 16 bits. The URL parser normalises every form of an address, without dots. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map((group) => parseInt(group, 16)));
  const [first, last] = [numbers(head), numbers(tail ?? '')];
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}
