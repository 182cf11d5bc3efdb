// Copies the script of the /docs page into dist/reference: one file of npm's @scalar/api-reference, 4.4 MB, which needs none of that
// package's dependencies (decision 43). Part of `npm run build`.
import { keepFilesOfPackage } from './files-of-package.ts';

await keepFilesOfPackage({
  name: '@scalar/api-reference',
  version: '1.72.1',
  sha512: 'XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow==',
  files: ['dist/browser/standalone.js'],
  copyright: 'Copyright (c) 2023-present Scalar',
  thirdParties: `Third parties whose work is in this script are the dependencies that are named in
https://github.com/scalar/scalar/blob/main/packages/api-reference/package.json`,
  directory: 'reference',
});
