import type { RunSpec } from '#shared/contract/runs.ts';
import type { ModelChoice } from './service.ts';

/** How long a rollout waits for a provider that is down or limits the rate. Nobody sits before it. */
export const RUN_PATIENCE_MS = 15 * 60_000;

type Routing = Pick<RunSpec, 'provider' | 'model' | 'baseUrl' | 'providersAllowed' | 'providersIgnored' | 'providersOrder' | 'providerSort' | 'openrouterMinCodingScore'>;

/**
 * The model of a run, with what it says of OpenRouter's providers (its `provider` object: `only`, `ignore`, `order`, `sort`) and of the
 * least coding score (its plugin `pareto-router`).
 */
export function choiceOfRun(spec: Routing): ModelChoice {
  const { provider, model, baseUrl, providersAllowed: only, providersIgnored: ignore, providersOrder: order, providerSort: sort } = spec;
  const routing = { ...(only.length > 0 ? { only } : {}), ...(ignore.length > 0 ? { ignore } : {}), ...(order.length > 0 ? { order } : {}), ...(sort ? { sort } : {}) };
  const score = spec.openrouterMinCodingScore;
  return { provider, model, baseUrl, routing, ...(score === undefined ? {} : { plugins: [{ id: 'pareto-router', min_coding_score: score }] }) };
}
