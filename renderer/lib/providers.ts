import type { Provider } from '#shared/contract/settings.ts';

/** The provider to preselect: one with a key, else one of the person's own, else the first. The scripted one only where it is all there is. */
export function likeliestProvider(providers: readonly Provider[]): Provider | undefined {
  const real = providers.filter((p) => !p.scripted);
  return real.find((p) => p.key !== 'none') ?? real.find((p) => p.builtIn !== true) ?? real[0] ?? providers[0];
}
