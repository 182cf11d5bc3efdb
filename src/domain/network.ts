// A range of IP addresses in CIDR notation, such as `10.0.0.0/8`.

export interface Network {
  readonly address: string;
  /** A single address has all bits fixed. */
  readonly prefixBits: number;
}
