import { render, type RenderOptions } from './support/helm.ts';
import type { AlertRule } from './support/manifest.ts';

/** The alerts of a release. */
export async function alertsOf(options: RenderOptions): Promise<AlertRule[]> {
  const rules = (await render(options)).filter(({ kind }) => kind === 'PrometheusRule');
  return rules.flatMap(({ spec }) => (spec?.groups ?? []).flatMap((group) => group.rules));
}

export const allAlerts = () => alertsOf({ set: { 'prometheusRule.enabled': true } });
