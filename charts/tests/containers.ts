import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CHARTS } from '../tools/generated.ts';
import { render, type RenderOptions } from './support/helm.ts';
import { containersOf, ofKind, serving, type AlertRule, type Container, type Manifest } from './support/manifest.ts';

/** Each folder of a service: the chart has to run them all. */
export const SERVICES = readdirSync(join(CHARTS, '../services'));

export async function containerOf(name: string, options: RenderOptions = {}): Promise<Container> {
  const found = serving(await render(options)).flatMap(({ template }) => containersOf(template));
  const container = found.find((each) => each.name === name);
  if (!container) throw new Error(`There is no container ${name}.`);
  return container;
}

/** The environment of a container as text; a secret as `secret/key`. */
export const envOf = ({ env = [] }: Pick<Container, 'env'>) =>
  Object.fromEntries(
    env.map(({ name, value, valueFrom: { secretKeyRef: ref } = {} }) => [name, value ?? `${ref?.name}/${ref?.key}`]),
  );

export const named = (manifests: Manifest[], kind: string, name: string) =>
  manifests.find((each) => each.kind === kind && each.metadata.name === name);

/** The files of a pod that come from secrets: path to `secret/key`. */
export async function filesOf(component: string, options: RenderOptions = {}): Promise<Record<string, string>> {
  const manifest = serving(await render(options)).find(({ metadata }) => metadata.name.endsWith(`-${component}`));
  const sources = manifest?.template.spec.volumes?.flatMap(({ projected }) => projected?.sources ?? []) ?? [];
  const files = sources.flatMap(({ secret: { name, items } }) => items.map((item) => ({ name, ...item })));
  return Object.fromEntries(files.map(({ name, key, path }) => [`/etc/taskmesh/${path}`, `${name}/${key}`]));
}

/** The alerts of a release. */
export async function alertsOf(options: RenderOptions): Promise<AlertRule[]> {
  const rules = ofKind(await render(options), 'PrometheusRule');
  return rules.flatMap(({ spec }) => (spec?.groups ?? []).flatMap((group) => group.rules));
}

export const allAlerts = () => alertsOf({ set: { 'prometheusRule.enabled': true } });
