import { expect, test } from 'vitest';
import { engineEnv } from './engine-env.ts';

test('the engine keeps the environment of the person, without what steers Node, Electron or the loader', () => {
  expect(
    engineEnv({
      PATH: '/bin', HOME: '/home/a', LANG: 'zh_CN.UTF-8', OPENAI_API_KEY: 'k', TALARIA_HOME: '/t', HTTPS_PROXY: 'http://p', UNSET: undefined,
      NODE_OPTIONS: '--require=/evil.js', NODE_PATH: '/evil', NODE_EXTRA_CA_CERTS: '/evil.pem', ELECTRON_RUN_AS_NODE: '1', LD_PRELOAD: '/evil.so',
      DYLD_INSERT_LIBRARIES: '/evil.dylib', npm_config_registry: 'x', node_options: '--inspect',
    }),
  ).toEqual({ PATH: '/bin', HOME: '/home/a', LANG: 'zh_CN.UTF-8', OPENAI_API_KEY: 'k', TALARIA_HOME: '/t', HTTPS_PROXY: 'http://p' });
});
