import type { Manifest } from './support/manifest.ts';

const LABEL = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SERVICE = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** Maps of texts to texts. */
const MAPS = new Set(['labels', 'annotations', 'matchLabels', 'nodeSelector', 'data', 'metadata']);
const TEXTS = new Set(
  `name namespace image host key property version secretName claimName serviceAccountName priorityClassName storageClassName
  ingressClassName serviceName secretKey path mountPath fieldPath interval query serverAddress threshold averageValue expr
  summary runbook_url alert storage sizeLimit refreshInterval cidr topologyKey whenUnsatisfiable`.split(/\s+/),
);
const LISTS_OF_TEXTS = new Set(['args', 'command', 'hosts', 'hostnames', 'accessModes', 'matchNames', 'policyTypes']);
/** As many characters as a name or a label may have. */
const MAX_NAME_LENGTH = 63;

/** What a server would not take, found without one: each with its place. */
export function problemsOf(manifest: Manifest): string[] {
  const { kind, metadata } = manifest;
  const where = `${kind}/${metadata.name}`;
  const isName = kind === 'Service' ? SERVICE : SUBDOMAIN;
  const wrong =
    isName.test(metadata.name) && metadata.name.length <= MAX_NAME_LENGTH ? [] : [`${where} cannot be named so`];
  return [...wrong, ...lookInto(manifest, where)];
}

function lookInto(value: unknown, where: string): string[] {
  if (Array.isArray(value))
    return [...twice(value, where), ...value.flatMap((each, at) => lookInto(each, `${where}[${at}]`))];
  if (typeof value !== 'object' || value === null)
    return value === undefined || value === null ? [`${where} is nothing`] : [];
  return Object.entries(value).flatMap(([key, each]) => [
    ...wrongAt(key, each).map((what) => `${where}.${key} ${what}`),
    ...lookInto(each, `${where}.${key}`),
  ]);
}

/** In lists, what has a name has one of its own. */
function twice(list: unknown[], where: string): string[] {
  const names = list.flatMap((each) => {
    const { name, port, protocol } = (each ?? {}) as { name?: string; port?: unknown; protocol?: unknown };
    return name === undefined || port !== undefined || protocol !== undefined ? [] : [name];
  });
  return names
    .filter((name, at) => names.indexOf(name) < at && !where.endsWith('Mounts'))
    .map((name) => `${where} has ${name} twice`);
}

function wrongAt(key: string, value: unknown): string[] {
  const isText = (each: unknown) => typeof each === 'string';
  if (TEXTS.has(key) && !isText(value) && typeof value !== 'object') return ['is no text'];
  if (LISTS_OF_TEXTS.has(key) && !(value as unknown[]).every(isText)) return ['has more than texts'];
  if (
    !MAPS.has(key) ||
    typeof value !== 'object' ||
    value === null ||
    Array.isArray(value) ||
    'name' in value ||
    'labels' in value
  )
    return [];
  const entries = Object.entries(value as Record<string, unknown>);
  const others = entries.filter(([, each]) => !isText(each));
  const labels = /abels|elector/.test(key) ? entries.filter(([, each]) => !LABEL.test(String(each))) : [];
  return [...others, ...labels].map(([name, each]) => `has ${name} as ${JSON.stringify(each)}`);
}
