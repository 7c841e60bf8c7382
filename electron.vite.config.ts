import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'electron-vite';

export default defineConfig({
  main: {
    build: {
      outDir: 'out/main',
      // Electron 45 embeds Node 24; electron-vite's own table ends earlier.
      target: 'node24',
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        input: {
          index: 'electron/main/index.ts',
          utility: 'electron/main/utility.ts',
          reader: 'electron/engine/store/reader.ts',
          spawner: 'electron/engine/sandbox/spawner-child.ts',
        },
        output: {
          format: 'es',
          entryFileNames: '[name].js',
          // Beside the entries, so that a path relative to import.meta.url means the same in a shared chunk.
          chunkFileNames: '[name]-[hash].js',
        },
      },
    },
  },
  preload: {
    build: {
      outDir: 'out/preload',
      // Nothing may be left to require: a sandboxed preload has only `electron`.
      externalizeDeps: false,
      minify: false,
      rolldownOptions: {
        input: { index: 'electron/preload/index.ts' },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: 'renderer',
    plugins: [react(), tailwindcss()],
    // Workers load further modules of their own.
    worker: { format: 'es' },
    build: {
      outDir: 'out/renderer',
      target: 'chrome150',
      // A data: URL for a script or a font would need holes in the content security policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: 'renderer/index.html' },
    },
  },
});
