// A server that speaks S3 and keeps its objects in a directory, with one bucket.
import S3rver from 's3rver';

export const BUCKET = 'b';
/** The only credentials that it accepts. */
export const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

export interface ObjectStore {
  readonly endpoint: string;
  /** Server options to keep its blobs here. */
  environment(prefix: string): Record<string, string>;
  close(): Promise<void>;
}

export async function openObjectStore(directory: string): Promise<ObjectStore> {
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET, configs: [] }],
  });
  const endpoint = `http://127.0.0.1:${(await server.run()).port}`;
  return {
    endpoint,
    environment: (prefix) => ({
      WHETSTONE_BLOBS_URL: `s3://${BUCKET}/${prefix}?endpoint=${endpoint}&region=us-east-1`,
      ...CREDENTIALS,
    }),
    close: () => server.close(),
  };
}
