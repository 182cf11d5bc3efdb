// A range of addresses, as operators name it: `10.0.0.0/8`.

export interface Network {
  readonly address: string;
  /** One address has all its bits. */
  readonly prefixBits: number;
}
