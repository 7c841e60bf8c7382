/** Loaded before main's bundle: `electron` becomes the substitute, for `import` and `require` alike. */
import { registerHooks } from 'node:module';

const SUBSTITUTE = new URL('./electron.ts', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'electron' || specifier.startsWith('electron/')) return { url: SUBSTITUTE, shortCircuit: true };
    return next(specifier, context);
  },
});
