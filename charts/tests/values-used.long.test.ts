import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHARTS } from '../tools/generated.ts';
import { renderText, valuesFiles } from './support/helm.ts';
import { readValues, type Documented, type Schema } from '../tools/values-schema.ts';

const { documented, schema } = readValues(readFileSync(join(CHARTS, 'taskmesh/values.yaml'), 'utf8'));
/** Only says that something is missing: values that do not go together have a test of their own. */
const GUARDS = ['keys.generate'];
const leaves = documented.filter((each) => each.default !== undefined && !GUARDS.includes(each.path));

/** What shows that a value without a plain type is used. */
const SAMPLES: [RegExp, unknown][] = [
  [/\.resources$/, { requests: { cpu: '7', memory: '7Gi' }, limits: { memory: '7Gi' } }],
  [/^\w+\.pod$/, { priorityClassName: 'sample' }],
  [/\.tolerations$/, [{ key: 'sample' }]],
  [/\.affinity$/, { podAffinity: {} }],
  [/\.(dns|scrapers|clients)$/, [{ podSelector: { matchLabels: { sample: 'x' } } }]],
  [/\.dnsPorts$/, [7777]],
  [/\.(extraEnv|parentRefs)$/, [{ name: 'SAMPLE' }]],
  [/\.extraVolumes$/, [{ name: 'sample' }]],
  [/\.extraVolumeMounts$/, [{ name: 'tmp', mountPath: '/sample' }]],
  [/\.egress\./, { ports: [7777] }],
  [/\.brokers$/, ['sample:1']],
  [/externalSecrets\.secrets$/, { sample: { key: { key: 'k' } } }],
  [/(size|Size)$/, '7Gi'],
  [/(interval|Interval)$/, '7m'],
  [/\.(hosts|hostnames)$/, ['sample.example.com']],
  [/digest$/, `sha256:${'a'.repeat(64)}`],
  [/(^prometheus\.address|PUBLIC_URL|OIDC_ISSUER)$/, 'https://sample.example.com'],
  [/telemetry\.endpoint$/, 'http://sample:4318'],
  [/samplerRatio$/, 0.5],
  [/RATE_LIMIT_FACTOR$/, 7],
  [/GRAPHQL_INTROSPECTION$/, true],
  [/MAX_CONNECTION_AGE_S$/, 7],
  [/BACKUP_RECIPIENTS$/, 'age1sample'],
  [/TRUSTED_PROXIES$/, '10.0.0.0/8'],
  [/CORS_ORIGINS$/, 'https://sample.example.com'],
  [/BACKUP_(VERIFY_)?SCHEDULE$/, '7 7 * * *'],
  [/BACKUP_MAIL_TO$/, 'sample@example.com'],
  [/BACKUP_KEEP$/, '8'],
  [/RESTORE_KEEP_OLD$/, '7d'],
  [/maxUnavailable$/, '7%'],
  [/disabled$/, ['TaskmeshTargetDown']],
  [/accessModes$/, ['ReadWriteMany']],
];

/** Each is different from the default, or from what a file of the chart says. */
function others({ path, default: value }: Documented): unknown[] {
  const sample = SAMPLES.find(([pattern]) => pattern.test(path));
  if (sample) return [sample[1]];
  const { enum: allowed } = partOf(path) as { enum?: unknown[] };
  if (allowed) return allowed.filter((each) => each !== value);
  if (typeof value === 'boolean') return [!value, value];
  if (typeof value === 'number') return [value + 2];
  if (typeof value === 'string') return ['sample'];
  return [Array.isArray(value) ? ['sample'] : { sample: 'x' }];
}

const partOf = (path: string) =>
  path.split('.').reduce((part, name) => (part.properties as Record<string, Schema>)[name] ?? {}, schema);

/** Some values mean something beside others only: all files that the chart brings are tried. */
async function changes(leaf: Documented): Promise<boolean> {
  for (const values of valuesFiles('taskmesh'))
    for (const value of others(leaf)) {
      const before = await renderText({ values });
      const after = await renderText({ values, set: { [leaf.path]: value } }).catch(() => before); // refused beside these
      if (after !== before) return true;
    }
  return false;
}

it.concurrent.each(leaves)('$path changes what is installed', async (leaf) => {
  expect([leaf.path, await changes(leaf)]).toEqual([leaf.path, true]);
});
