// Copies ONNX Runtime into dist/onnxruntime: the files of npm's onnxruntime-node that the CPU of each supported platform needs, 146 MB
// of 288. Our package ships them itself, because onnxruntime-node cannot be a dependency: its install script downloads GPU libraries from
// outside the registry (decision 36). Part of `npm run build`.
import { keepFilesOfPackage } from './files-of-package.ts';

const VERSION = '1.30.0'; // as onnxruntime-common in package.json

/** What each platform loads. Left out: DirectML and WebGPU of Windows, and a second name of the same library for macOS. */
const FILES = [
  ...['index.js', 'backend.js', 'binding.js', 'version.js'].map((name) => `dist/${name}`),
  ...['linux/x64', 'linux/arm64'].flatMap((platform) => [
    `bin/napi-v6/${platform}/onnxruntime_binding.node`,
    `bin/napi-v6/${platform}/libonnxruntime.so.1`,
  ]),
  'bin/napi-v6/darwin/arm64/onnxruntime_binding.node',
  'bin/napi-v6/darwin/arm64/libonnxruntime.1.dylib',
  'bin/napi-v6/win32/x64/onnxruntime_binding.node',
  'bin/napi-v6/win32/x64/onnxruntime.dll',
];

await keepFilesOfPackage({
  name: 'onnxruntime-node',
  version: VERSION,
  sha512: 'twhs1C2C/BFkz1yc5OY0KIU2GUq6DURO7hD4bx5Q2Qy3nAMJwRXW8xU3NVczE29VA9lolLOYepoD8fjTGOfIqw==',
  files: FILES,
  main: 'dist/index.js',
  copyright: 'Copyright (c) Microsoft Corporation',
  thirdParties: `Third parties whose work is in these libraries are named in
https://github.com/microsoft/onnxruntime/blob/v${VERSION}/ThirdPartyNotices.txt`,
  directory: 'onnxruntime',
});
