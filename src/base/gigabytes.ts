/** Bytes as people read them: `12.3 GB`. */
export const gigabytes = (bytes: number, digits = 1): string => `${(bytes / 1e9).toFixed(digits)} GB`;
