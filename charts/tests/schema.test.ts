import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { CHARTS, CHART_NAMES, generatedFiles } from '../tools/generated.ts';
import { render } from './support/helm.ts';
import { findRefusals } from './settings-readers.ts';

type Tree = Record<string, unknown>;

/** What a chart says of its values. */
function chartOf(chart: string) {
  const file = (name: string) => readFileSync(join(CHARTS, chart, name), 'utf8');
  const schema = JSON.parse(file('values.schema.json')) as AnySchemaObject;
  const values = () => parse(file('values.yaml')) as Tree;
  const validate = new Ajv2020({ allowUnionTypes: true, strictTypes: false }).compile(schema);
  /** Whether the values are right with another one at a path. */
  const fits = (path: string[], value: unknown) => {
    const changed = values();
    (at(changed, path.slice(0, -1)) as Tree)[path.at(-1) ?? ''] = value;
    return validate(changed);
  };
  return { schema, values, validate, fits };
}

describe.each(CHART_NAMES)('the values of %s', (chart) => {
  const { schema, values, validate, fits } = chartOf(chart);

  it('have a schema and a table that are up to date (npm run charts:generate)', () => {
    for (const [path, text] of generatedFiles(chart)) expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('fit their own schema', () => expect([validate(values()), validate.errors]).toEqual([true, null]));

  it('know no other key, wherever it is', () => {
    const groups = paths(schema, (part) => part.additionalProperties === false);
    expect(groups.length).toBeGreaterThan(5);
    for (const group of groups)
      expect([group.join('.'), fits([...group, 'noSuchKey'], 1)]).toEqual([group.join('.'), false]);
  });

  it('are of one type each', () => {
    const leaves = paths(schema, (part) => part.properties === undefined && part.$ref === undefined);
    for (const leaf of leaves.filter(isOurs))
      for (const value of [null, [[{ no: 'such type' }]]])
        expect([leaf.join('.'), fits(leaf, value)]).toEqual([leaf.join('.'), false]);
  });

  it('are all there: a default that null takes away is missed', () => {
    for (const group of paths(schema, (part) => part.properties !== undefined).filter(isOurs))
      for (const name of Object.keys(at(values(), group) as Tree)) {
        const changed = values();
        delete (at(changed, group) as Tree)[name];
        const isPart = group.at(-1) === 'pod' && group.length > 1; // of what `pod` has
        expect([...group, name, validate(changed)]).toEqual([...group, name, isPart]);
      }
  });
});

const isOurs = ([first]: string[]) => first !== 'global';

/** Where parts of the schema that fit are in the values. */
function paths(schema: AnySchemaObject, fits: (part: AnySchemaObject) => boolean, path: string[] = []): string[][] {
  const parts = Object.entries<AnySchemaObject>(schema.properties ?? {});
  const below = parts.flatMap(([name, part]) => paths(part, fits, [...path, name]));
  return fits(schema) ? [path, ...below] : below;
}

const at = (tree: unknown, path: string[]): unknown => path.reduce((part, name) => (part as Tree)[name], tree);

const { fits } = chartOf('taskmesh');

it.each<[string, unknown, unknown]>([
  ['commonLabels', { 'example.com/team': 'a.b_c-1' }, { team: 'my team' }],
  ['pod.labels', { a: '' }, { 'a b': 'c' }],
  ['pod.labels', { a: 'b'.repeat(63) }, { a: 'b'.repeat(64) }],
  ['pod.annotations', { a: 'any, text' }, { 'a b': 'c' }],
  ['pod.nodeSelector', { disk: 'fast' }, { disk: 1 }],
  ['pod.tolerations', [{ operator: 'Exists' }], [{ operator: 'exists' }]],
  ['pod.affinity', { podAntiAffinity: {} }, { antiAffinity: {} }],
  ['pod.priorityClassName', '', 'High'],
  ['pod.extraEnv', [{ name: 'A', value: '1' }], [{ name: 'A', value: 1 }]],
  ['pod.extraEnv', [{ name: 'a.b' }], [{ name: '1A' }]],
  ['pod.extraVolumes', [{ name: 'a', emptyDir: {} }], [{ name: 'A', emptyDir: {} }]],
  ['pod.extraVolumeMounts', [{ name: 'a', mountPath: '/a' }], [{ name: 'a', mountPath: 'a' }]],
  ['gateway.pod', { tolerations: [] }, { tolerations: [{ when: 'always' }] }],
  ['image.repository', 'registry.example.com:5000/a/b', 'a b'],
  ['image.repository', 'localhost:5000/taskmesh', 'registry.example.com/taskmesh:0.2.0'],
  ['image.repository', 'taskmesh', 'taskmesh:0.2.0'],
  ['image.tag', '1.0', 'a:b'],
  ['image.pullSecrets', ['a.b'], ['A']],
  ['redis.existingSecret', '1', 'My_secret'],
  ['redis.key', 'redis.url', 'redis/url'],
  ['backup.persistence.storageClassName', '', 'Fast'],
  ['backup.persistence.accessModes', ['ReadWriteOncePod'], ['ReadWriteAlways']],
  ['backup.persistence.accessModes', ['ReadWriteOnce', 'ReadWriteMany'], []],
  ['ingress.tlsSecret', 'tls', 'TLS'],
  ['httpRoute.parentRefs', [{ name: 'a', sectionName: 'https', port: 443 }], [{ name: 'a', ports: [443] }]],
  ...['https://example.com', '*', 'a.*.example.com', 'A.example.com', 'a_b.example.com'].flatMap((host) =>
    ['ingress.hosts', 'httpRoute.hostnames'].map((path): [string, unknown, unknown] => [path, ['*.a.de'], [host]]),
  ),
  ['networkPolicy.clients', [{ ipBlock: { cidr: '10.0.0.0/8' } }], [{}]],
  ['networkPolicy.egress.otlp.to', [{ podSelector: {} }], [{ pods: {} }]],
  ['networkPolicy.dnsPorts', [5353, 1053], [0]],
  ['networkPolicy.dnsPorts', [53], []],
  ['externalSecrets.secrets', { a: { b: { key: 'x/y' } } }, { A: { b: { key: 'x/y' } } }],
  ['serviceMonitor.interval', '1m30s', 'often'],
  ['prometheusRule.alertLabels', { team: 'any text' }, { 'the-team': 'x' }],
  ['kafka.topicPrefix', 'a.b_', 'a/b'],
  ['telemetry.endpoint', 'http://collector:4318', 'collector:4318'],
  ['telemetry.samplerRatio', 1, 2],
  ['telemetry.resourceAttributes', { a: 'b' }, { a: 'b=c' }],
  ['telemetry.resourceAttributes', { load: '50' }, { load: '50%' }],
  ['telemetry.resourceAttributes', { long: 'x'.repeat(255) }, { long: 'x'.repeat(256) }],
])('refuses what Kubernetes or our services do not take at %s: not %j but %j', (path, right, wrong) => {
  expect([right, wrong].map((value) => fits(path.split('.'), value))).toEqual([true, false]);
});

describe('the settings in the values, and the services', () => {
  const { fits, schema } = chartOf('taskmesh');

  it('agree on the least and the most of every number', () => {
    const all = paths(schema, ({ type }) => [type].flat().includes('integer'));
    const numbers = all.filter((path) => path.includes('settings'));
    expect(numbers.length).toBeGreaterThan(15);
    for (const path of numbers) {
      const { minimum, maximum } = path.reduce((part, name) => part.properties[name] as AnySchemaObject, schema);
      const name = path.at(-1) ?? '';
      const isTaken = (value: number) => findRefusals({ [name]: String(value) }).length === 0;
      const taken = [minimum, maximum, minimum - 1, maximum + 1].map(isTaken);
      expect([name, ...taken]).toEqual([name, true, true, false, false]);
    }
  });

  it.each<[string, unknown[], unknown[]]>([
    [
      'settings.PUBLIC_URL',
      ['', 'http://a:8080/', 'https://a/b'],
      ['a.example.com', 'https://a b', 'https://a?b', 'https://a#b', 'https://u@a'],
    ],
    ['settings.RATE_LIMIT_FACTOR', ['', 0, '0', 1_000_000, '0.5'], [-1, 1_000_001, 'many', '1e3', '2000000']],
    [
      'gateway.settings.CORS_ORIGINS',
      ['', ',https://a, ,', ' https://a.example.com,\nhttp://[::1]:3000\n'],
      ['https://a/', 'https://A', 'https://a?b', 'https://u@a'],
    ],
    [
      'gateway.settings.CORS_ORIGINS',
      ['https://a:80,http://b:443', 'http://a:8080'],
      ['https://a:443', 'http://a:80, https://b'],
    ],
    [
      'gateway.settings.TRUSTED_PROXIES',
      ['', '10.0.0.1,', '10.0.0.0/8,\n2001:db8::/32,\n'],
      ['proxy', '10.0.0.0/8 ::1'],
    ],
    [
      'auth.settings.MAIL_FROM',
      ['', 'a@b', 'Tasks (prod), Inc. <a@b.de>', '"T: (" <a@b.de>'],
      ['a', 'A (T <a@b.de>', '"A\\" <a@b.de>', 'a(b@c.de', 'a@b.de\n', 'a@b.de:', 'A: <a@b.de>'],
    ],
    ['auth.settings.OIDC_ISSUER', ['', 'https://a/b@c'], ['http://a', 'https://a?b', 'https://u@a', 'https://a#b']],
    ['tasks.settings.CHANGE_RETENTION_HOURS', [0, 0.5, 87_840], [-1, 87_841]],
    [
      'backup.settings.BACKUP_SCHEDULE',
      ['@daily', ' 5 0 * * SUN', '*/5  0-6,22\t* JAN ?\n'],
      ['@', '5 * * *', 'daily'],
    ],
    ['backup.settings.BACKUP_VERIFY_SCHEDULE', ['0 5 * * SUN', ' @Weekly'], ['at five', '0 0 5 * * SUN 2030']],
    [
      'backup.settings.BACKUP_KEEP',
      ['', '7', ' 010\n', '10000', 'last=3,', ',\n last = 3,,\nyearly=2', 'daily=00007'],
      ['0', '10001', '7,', ',', ' ', 'last', 'last=0', 'last=3;daily=1', 'last=10001', 'Last=1', 'last=3 daily=1'],
    ],
    [
      'backup.settings.BACKUP_MAIL_TO',
      ['', "o'neil+x@a.example.com", ' a@b.de,\nc@d.de,\n'],
      [',', 'a', 'a@b', '.a@b.de', 'a..b@c.de', 'a@b.de c@d.de', 'a@b..de', "a'@b.de"],
    ],
    ['backup.settings.BACKUP_RECIPIENTS', ['', 'age1a,\n age1b,\n', ', age1a,,'], [',', ' ,,']],
    ['backup.settings.RESTORE_KEEP_OLD', ['', '0', '9999m', '7d'], ['1', '7 d', '10000m', '1w']],
  ])('agree on %s', (path, right, wrong) => {
    const keys = path.split('.');
    const name = keys.at(-1) ?? '';
    const others = {
      ...(name === 'BACKUP_KEEP' && { BACKUP_SCHEDULE: '@daily' }),
      ...(name === 'OIDC_ISSUER' && { OIDC_CLIENT_ID: 'taskmesh' }),
    };
    const verdicts = (value: unknown) => {
      const refusals = findRefusals({ ...(value !== '' && others), [name]: String(value) });
      return [value, fits(keys, value), refusals.length === 0];
    };
    expect(right.map(verdicts)).toEqual(right.map((value) => [value, true, true]));
    expect(wrong.map(verdicts)).toEqual(wrong.map((value) => [value, false, false]));
  });
});

it.each([3, 4] as const)('Helm %s names the paths of all wrong values', async (helm) => {
  const wrong: [string, unknown, RegExp][] = [
    ['gateway.replicas', 'many', /gateway.replicas.*integer/],
    ['gateway.replica', 2, /gateway'?: additional propert(y|ies) '?replica/i],
    ['gateway.pod.replica', 2, /gateway.pod'?: additional propert(y|ies) '?replica/i],
    ['image.tag', 'latest', /image.tag/],
    ['auth.settings.MAIL_FROM', 'a(b@c.de', /MAIL_FROM/],
    ['gateway.resources', null, /gateway'?: (missing property ')?resources/],
    ['networkPolicy.egress.otlp', null, /egress'?: (missing property ')?otlp/],
    ['pod', null, /(''|\(root\)): (missing property ')?pod/],
  ];
  const message = await render({ helm, set: Object.fromEntries(wrong) }).catch(String);
  for (const [, , said] of wrong) expect(message).toMatch(said);
});

/** Settings that the chart says itself, or takes out of a secret, a ConfigMap or another value. */
const OWN =
  `AUTH_URL BACKUP_URL GATEWAY_URL TASKS_URL HOST PORT ADMIN_HOST ADMIN_PORT DATA_DIR BACKUPS_DIR DATABASE_PREFIX
  IDENTITY_KEY_FILE IDENTITY_PUBLIC_KEYS_FILE POSTGRES_URL REDIS_URL KAFKA_BROKERS KAFKA_SASL_PASSWORD KAFKA_TOPIC_PREFIX
  SUPERGRAPH_FILE TRUSTED_DOCUMENTS TRUSTED_DOCUMENTS_FILE ACCESS_TOKEN_KEYS_FILE SMTP_URL OIDC_CLIENT_SECRET
  BACKUP_TOKEN BACKUP_S3_URL BACKUP_KEY_FILE BACKUP_WEBHOOK_URL TASKS_ADMIN_URL AUTH_ADMIN_URL MIGRATE_AT_START NEWER_SCHEMA
  TRACE_CALLERS_PER_S`.split(/\s+/);
/** What an installation for users has otherwise than a developer's machine. */
const FOR_USERS =
  `NODE_ENV PUBLIC_URL RATE_LIMIT_FACTOR GRAPHQL_INTROSPECTION REALTIME_MAX_CONNECTION_AGE_S HASH_CONCURRENCY
  BACKUP_SCHEDULE BACKUP_KEEP`.split(/\s+/);

it('the settings in the values are those of the product, with its defaults', () => {
  const defaults = parseEnv(readFileSync(join(CHARTS, '../.env.example'), 'utf8'));
  const parts: Record<string, { settings?: Tree } | null> = parse(
    readFileSync(join(CHARTS, 'taskmesh/values.yaml'), 'utf8'),
  );
  const settings: Tree = Object.assign({}, parts['settings'], ...Object.values(parts).map((part) => part?.settings));
  const wanted = Object.keys(defaults).filter((name) => !OWN.includes(name) && !name.startsWith('OTEL_'));
  expect(Object.keys(settings).toSorted()).toEqual(wanted.toSorted());
  for (const [name, value] of Object.entries(settings))
    if (!FOR_USERS.includes(name)) expect([name, String(value)]).toEqual([name, defaults[name]]);
});
