// How the dashboard becomes files in dist/dashboard: hashed assets, URLs relative to the page (any prefix works), and a limit on
// what a browser has to fetch. `npm run dev:dashboard` serves the sources instead, beside a server on the usual port.
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { documentation } from './documentation-plugin.ts';

/** A page that opens at once over a slow line. */
const GZIPPED_BYTES_MAX = 250_000;

const limitSize: Plugin = {
  name: 'limit-size',
  generateBundle(_, bundle) {
    // Pages of the documentation are fetched one by one.
    const files = Object.values(bundle).filter((file) => file.type === 'asset' || !file.isDynamicEntry);
    const sizes = files.map((file) => gzipSync(file.type === 'chunk' ? file.code : file.source).length);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (bytes > GZIPPED_BYTES_MAX) this.error(`the dashboard has ${bytes} bytes gzipped, over ${GZIPPED_BYTES_MAX}`);
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    assetsInlineLimit: 0, // data: URLs would need a hole in the content security policy
    modulePreload: false,
    target: 'es2023',
    rolldownOptions: { checks: { pluginTimings: false } }, // reading the documentation takes as long as the rest
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [documentation, limitSize],
  server: { proxy: { '/v1': 'http://127.0.0.1:8484', '/docs': 'http://127.0.0.1:8484' } },
});
