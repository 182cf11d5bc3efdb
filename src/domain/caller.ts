// Who asks. Every service method that touches rows takes one and answers 404 for what is not the caller's.

export interface Caller {
  readonly entity: string;
  readonly keyId: string;
}
