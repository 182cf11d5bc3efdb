// A caller's identity. Only the SHA-256 of a key is stored.

export interface ApiKey {
  readonly id: string;
  readonly entity: string;
  readonly name: string;
  readonly secretHash: string; // hex SHA-256
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
}
