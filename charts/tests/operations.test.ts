import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHARTS } from '../tools/generated.ts';
import { render, runHelm, type RenderOptions } from './support/helm.ts';
import { ofKind, serving } from './support/manifest.ts';
import { alertsOf, allAlerts } from './containers.ts';

const ROOT = join(CHARTS, '..');

describe('scaling', () => {
  const budgetsOf = async (options: RenderOptions = {}) => ofKind(await render(options), 'PodDisruptionBudget');
  it('by default: two pods of what serves, one of backup, and a disruption budget where there are several', async () => {
    const numbers = serving(await render()).map(({ metadata, spec }) => [metadata.name, spec?.replicas]);
    const several = ['gateway', 'auth', 'tasks'].map((name) => `shop-taskmesh-${name}`);
    const expected = [...several.map((name) => [name, 2]), ['shop-taskmesh-backup', 1]];
    expect(numbers).toEqual(expect.arrayContaining(expected));
    expect(numbers).toHaveLength(4);
    const spec = { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' };
    expect(await budgetsOf()).toMatchObject(several.map((name) => ({ metadata: { name }, spec })));
    expect(await budgetsOf({ values: 'ci/bare-values.yaml' })).toEqual([]);
  });

  it('allows as many unavailable pods as configured: a number, also as text, or a percentage', async () => {
    const set = { 'pod.maxUnavailable': '25%', 'auth.pod.maxUnavailable': '2', 'tasks.pod.maxUnavailable': 3 };
    expect((await budgetsOf({ set })).map(({ spec }) => spec?.maxUnavailable)).toEqual(['25%', 2, 3]);
  });

  it.each([
    { values: 'ci/hpa-ingress-values.yaml', kind: 'HorizontalPodAutoscaler' },
    { values: 'ci/keda-values.yaml', kind: 'ScaledObject' },
  ])('leaves the number of pods to $kind', async ({ values, kind }) => {
    const manifests = await render({ values });
    expect([ofKind(manifests, kind).length, (await budgetsOf({ values })).length]).toEqual([3, 3]);
    expect(serving(manifests).map(({ spec }) => spec?.replicas)).toEqual([undefined, undefined, undefined, 1]);
  });

  it('follows CPU and connections (HPA)', async () => {
    const [gateway, auth] = ofKind(await render({ values: 'ci/hpa-ingress-values.yaml' }), 'HorizontalPodAutoscaler');
    expect(gateway?.spec?.metrics).toMatchObject([
      { resource: { name: 'cpu', target: { averageUtilization: 70 } } },
      { pods: { metric: { name: 'taskmesh_realtime_connections' }, target: { averageValue: '2000' } } },
    ]);
    expect(auth?.spec?.metrics).toHaveLength(1);
  });

  it('follows connections and unpublished changes (KEDA), as strings, which KEDA requires', async () => {
    const [gateway, , tasks] = ofKind(await render({ values: 'ci/keda-values.yaml' }), 'ScaledObject');
    expect(gateway?.spec?.triggers?.[1]?.metadata).toEqual({
      serverAddress: 'http://prometheus.monitoring:9090',
      query: 'sum(taskmesh_realtime_connections{namespace="prod",job="shop-taskmesh-gateway-admin"})',
      threshold: '2000',
    });
    expect(tasks?.spec?.triggers?.[1]?.metadata.query).toContain('taskmesh_outbox_pending_messages');
    const triggers = [gateway, tasks].flatMap((each) => each?.spec?.triggers ?? []);
    for (const text of triggers.flatMap(({ metadata }) => Object.values(metadata))) expect(typeof text).toBe('string');
  });
});

describe('routes', () => {
  it('lead everything to the gateway, without a timeout for streams, and are an Ingress where there is no Gateway', async () => {
    const [route] = ofKind(await render({ values: 'ci/gateway-api-values.yaml' }), 'HTTPRoute');
    expect(route?.spec).toMatchObject({
      hostnames: ['tasks.example.com'],
      parentRefs: [{ name: 'public', namespace: 'gateways' }],
      rules: [{ timeouts: { request: '0s' }, backendRefs: [{ name: 'shop-taskmesh-gateway', port: 80 }] }],
    });
    const [ingress] = ofKind(await render({ values: 'ci/hpa-ingress-values.yaml' }), 'Ingress');
    expect(ingress?.spec).toMatchObject({
      ingressClassName: 'nginx',
      tls: [{ secretName: 'tasks-tls', hosts: ['tasks.example.com'] }],
      rules: [{ host: 'tasks.example.com' }],
    });
  });

  it('accept a wildcard host, and links then lead to the configured host, or to one listed beside it', async () => {
    const ingress = { enabled: true, hosts: ['*.example.com', 'tasks.example.com'], tlsSecret: 'tls' };
    const both = await render({ set: { ingress } });
    const rules = ofKind(both, 'Ingress')[0]?.spec?.rules as { host: string }[];
    expect(rules.map(({ host }) => host)).toEqual(ingress.hosts);
    expect(JSON.stringify(both)).toContain('"name":"PUBLIC_URL","value":"https://tasks.example.com"');
    const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['*.example.com'] };
    const own = await render({ set: { httpRoute, 'settings.PUBLIC_URL': 'https://a.example.com' } });
    expect(ofKind(own, 'HTTPRoute')[0]?.spec).toMatchObject({ hostnames: ['*.example.com'] });
    expect(JSON.stringify(own)).toContain('"name":"PUBLIC_URL","value":"https://a.example.com"');
  });
});

describe('alerts', () => {
  const values = 'ci/monitoring-values.yaml';
  it('each select this release only, and link to a runbook that names this alert and no other', async () => {
    const rules = await allAlerts();
    for (const { alert, annotations, expr } of rules) {
      const text = readFileSync(join(ROOT, 'docs/runbooks', annotations.runbook_url.split('/').at(-1) ?? ''), 'utf8');
      expect(text).toContain(alert);
      expect([alert, expr]).toEqual([alert, expect.stringMatching(/^(?![^]*\$SELECTOR)[^]*namespace="prod"/)]);
    }
    const documented = globSync('docs/runbooks/*.md', { cwd: ROOT }).flatMap(
      (file) => readFileSync(join(ROOT, file), 'utf8').match(/\bTaskmesh[A-Z][A-Za-z]+\b/g) ?? [],
    );
    expect(new Set(documented)).toEqual(new Set(rules.map(({ alert }) => alert)));
  });

  it('can be disabled, and labelled', async () => {
    const rules = await alertsOf({ values });
    const others = (await allAlerts()).map(({ alert }) => alert).filter((alert) => alert !== 'TaskmeshClientsTooSlow');
    const labels = { team: 'tasks', severity: expect.any(String) };
    expect(rules).toMatchObject(others.map((alert) => ({ alert, labels })));
  });
});

it('the runbook on keys names what the hook makes, and a program that the image has', () => {
  const runbook = readFileSync(join(ROOT, 'docs/runbooks/rotate-signing-keys.md'), 'utf8');
  const source = readFileSync(join(ROOT, 'deploy/kubernetes/src/create-secret.ts'), 'utf8');
  const made = source.match(/(?<=^ {4}')[^']+(?=':)/gm) ?? [];
  expect(made).toHaveLength(6);
  for (const key of made) expect(runbook).toContain(key);
  const [, program = ''] = /kubectl exec "\$auth" -- node (\S+)/.exec(runbook) ?? [];
  expect(program).toBe('services/auth/src/keys/generate-signing-key.js');
});

it('the programs of images exist, as JavaScript in an image and as TypeScript here', () => {
  const files = ['Dockerfile', 'deploy/compose.yaml', 'charts/*/templates/**/*.yaml', 'docs/**/*.md'];
  const named = globSync(files, { cwd: ROOT }).flatMap((place) => {
    const text = readFileSync(join(ROOT, place), 'utf8');
    const programs = text.match(/(?<=node["', ]+(\/app\/)?)(deploy|services)\/[\w./-]+\.[jt]s/g) ?? [];
    return programs.map((program) => ({
      place,
      program,
      isThere: existsSync(join(ROOT, program.replace(/\.js$/, '.ts'))),
    }));
  });
  expect(new Set(named.map(({ program }) => program)).size).toBeGreaterThan(4);
  for (const each of named) expect(each).toMatchObject({ program: expect.stringMatching(/\.js$/), isThere: true });
});

describe('every metric that is used', () => {
  const documented = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const known = (name: string) =>
    [name, name.replace(/_(bucket|count|sum)$/, '')].some((each) => documented.includes(`\`${each}\``)) ||
    /^(nodejs|process)_/.test(name);
  const namesIn = (text: string) => text.match(/\b[a-z]+(?:_[a-z0-9]+)+(?=\{)/g) ?? [];

  it.each(['files/alerts.yaml', 'files/dashboards/taskmesh.json'])('is one that the product exports: %s', (file) => {
    const names = namesIn(readFileSync(join(CHARTS, 'taskmesh', file), 'utf8'));
    expect(names.length).toBeGreaterThan(10);
    expect([...new Set(names)].filter((name) => !known(name))).toEqual([]);
  });

  it('in an alert is also on the dashboard', async () => {
    const shown = new Set(namesIn(readFileSync(join(CHARTS, 'taskmesh/files/dashboards/taskmesh.json'), 'utf8')));
    for (const { alert, expr } of await allAlerts())
      expect([alert, namesIn(expr).filter((name) => !shown.has(name))]).toEqual([alert, []]);
  });

  it('is scraped at the admin port of every service, and shown on a dashboard for Grafana’s sidecar', async () => {
    const manifests = await render({ values: 'ci/monitoring-values.yaml' });
    const [dashboards] = ofKind(manifests, 'ConfigMap');
    const found = { labels: { grafana_dashboard: '1' }, annotations: { grafana_folder: 'Taskmesh' } };
    expect(dashboards?.metadata).toMatchObject(found);
    expect(JSON.parse(dashboards?.data?.['taskmesh.json'] ?? '')).toMatchObject({ title: 'Taskmesh' });
    const [monitor] = ofKind(manifests, 'ServiceMonitor');
    expect(monitor?.metadata.labels).toMatchObject({ release: 'prometheus' });
    expect(monitor?.spec).toMatchObject({ endpoints: [{ port: 'admin', path: '/metrics' }] });
    const ports = ofKind(manifests, 'Service').flatMap(({ spec }) => spec?.ports as { name: string }[]);
    expect(ports.filter(({ name }) => name === 'admin')).toHaveLength(4);
  });
});

const TOGETHER: [set: string, ...sentences: string[]][] = [
  ['keys.generate=false', 'keys.accessTokens.existingSecret is empty: name a secret, or set keys.generate to true'],
  ['backup.replicas=2', 'set backup.s3.existingSecret, or backup.replicas to 1'],
  ['kafka.sasl.mechanism=plain', 'kafka.sasl.gateway lacks username or existingSecret'],
  ['kafka.tls.ca.existingSecret=ca', 'kafka.tls.ca is set, but kafka.tls.enabled is false: set it to true'],
  ['kafka.clientCertificates.tasks.existingSecret=c', 'kafka.clientCertificates.tasks is set, but kafka.tls.enabled'],
  ['gateway.autoscaling.mode=keda', 'set prometheus.address to where Prometheus answers'],
  ['tasks.autoscaling.minReplicas=9', 'tasks.autoscaling.minReplicas is above maxReplicas: lower it'],
  ['backup.settings.BACKUP_SCHEDULE=', 'BACKUP_KEEP needs backup.settings.BACKUP_SCHEDULE'],
  ['auth.oidc.existingSecret=login', 'auth.oidc.existingSecret is set, but no one signs in at a provider'],
  ['auth.settings.OIDC_NAME=Example', 'auth.settings.OIDC_NAME is set, but no one signs in at a provider'],
  ['backup.settings.BACKUP_MAIL_TO=a@example.com', 'set auth.smtp.existingSecret, or BACKUP_MAIL_TO to'],
  ['backup.settings.BACKUP_RECIPIENTS=age1x', 'set backup.encryption.existingSecret, or BACKUP_VERIFY to false'],
  ['backup.settings.BACKUP_MAX_ARCHIVE_MB=1024', 'backup.scratchSize is 8Gi: set it to 16384Mi or more'],
  ['prometheusRule.disabled=["TaskmeshTargetsDown"]', 'prometheusRule.disabled has TaskmeshTargetsDown, which is no'],
  ['gateway.trustedDocuments.mode=only', 'set gateway.trustedDocuments.existingConfigMap'],
  ['httpRoute.enabled=true', 'set httpRoute.parentRefs to your Gateway'],
  [
    'ingress={"enabled":true,"hosts":["tasks.example.com"]}',
    'settings.PUBLIC_URL is empty, and no host is a single one with TLS (tasks.example.com): set it to the origin that clients use',
  ],
  [
    'externalSecrets.enabled=true',
    'set externalSecrets.storeRef.name to your store',
    'list what to fetch under externalSecrets.secrets',
  ],
  ['gateway.resources.limits.memory="768"', 'gateway.resources.limits.memory is 768: nothing starts with less'],
  ['auth.resources.limits.memory=200Mi', 'auth.resources.requests.memory is 256Mi, above the limit of 200Mi'],
  ['jobs.resources.limits.cpu=50m', 'jobs.resources.requests.cpu is 100m, above the limit of 50m: lower it'],
  ['fullnameOverride=Mesh', 'the objects\' names would begin with "Mesh", which no Service may have'],
  ['nameOverride=_x', 'nameOverride is "_x", which no label may be'],
  ['commonLabels={"app.kubernetes.io/name":"x"}', 'commonLabels has app.kubernetes.io/name, which is the chart'],
  ['pod.labels={"app.kubernetes.io/component":"x"}', '- pod.labels has app.kubernetes.io/component'],
  ['tasks.pod.labels={"app.kubernetes.io/instance":"x"}', 'tasks.pod.labels has app.kubernetes.io/instance'],
  ['serviceMonitor.labels={"helm.sh/chart":"x"}', 'serviceMonitor.labels has helm.sh/chart'],
  [
    'pod.extraEnv=[{"name":"LOG_LEVEL"},{"name":"A"},{"name":"A"}]',
    '- pod.extraEnv has LOG_LEVEL, which the chart sets itself: remove it there',
    '- pod.extraEnv has A twice: remove one',
  ],
  ['auth.pod.extraEnv=[{"name":"REDIS_URL"}]', 'auth.pod.extraEnv has REDIS_URL, which the chart sets itself'],
  ['jobs.pod.extraEnv=[{"name":"A"},{"name":"A"}]', 'jobs.pod.extraEnv has A twice: remove one'],
  [
    'pod.extraVolumes=[{"name":"tmp"},{"name":"a"},{"name":"a"}]',
    'pod.extraVolumes has tmp, which is a volume of the chart',
    'pod.extraVolumes has a twice: remove one',
  ],
  [
    'pod.extraVolumeMounts=[{"name":"tmp","mountPath":"/data/"},{"name":"b","mountPath":"/b"}]',
    'pod.extraVolumeMounts has /data/, which is taken',
    'mounts b, which is no volume: add it to pod.extraVolumes',
  ],
  ['pod.maxUnavailable=0', '- pod.maxUnavailable is 0: set a number from 1, or a part from 1% to 100%'],
  ['gateway.pod.maxUnavailable=0%', 'gateway.pod.maxUnavailable is 0%: set a number from 1'],
  ['tasks.pod.maxUnavailable=101%', 'tasks.pod.maxUnavailable is 101%: set a number from 1'],
];
const SIGNS_IN: typeof TOGETHER = [
  ['auth.settings.OIDC_ISSUER=https://login.example.com', 'OIDC_ISSUER and OIDC_CLIENT_ID go together'],
  ['ingress.enabled=true', 'set ingress.hosts, such as [tasks.example.com]'],
  ['gateway.autoscaling.mode=hpa gateway.resources.requests={"cpu":null}', 'set gateway.resources.requests.cpu'],
  ['fullnameOverride=2nd', 'set fullnameOverride to a-z, 0-9 and -, beginning with a letter, such as taskmesh'],
];
const IN_ONE_POD: typeof TOGETHER = [
  ['', 'the objects\' names would begin with "tasks.eu-taskmesh"'],
  ['mode=allInOne', 'with mode allInOne set keys.backupToken.existingSecret, or settings.NODE_ENV'],
  ['keys.accessTokens.existingSecret=mine', 'is set, but with mode allInOne the pod makes these keys itself'],
  ['tasks.autoscaling.mode=hpa', 'tasks.autoscaling.mode is hpa, but mode allInOne has one pod: set it to none'],
];
const IN_A_TRIAL: typeof TOGETHER = [
  ['', 'set fullnameOverride to a-z, 0-9 and -'],
  ['pod.extraEnv=[{"name":"PORT"}]', 'pod.extraEnv has PORT, which'],
  ['backup.settings.BACKUP_SCHEDULE=', 'BACKUP_KEEP needs backup.settings.BACKUP_SCHEDULE'],
  ['auth.settings.OIDC_CLIENT_ID=tasks', 'OIDC_ISSUER and OIDC_CLIENT_ID go together'],
  ['auth.oidc.existingSecret=login', 'existingSecret is set, but no one signs in at a provider'],
];

// The chart reports all problems at once; others hide each other.
it.each<[RenderOptions, typeof TOGETHER]>([
  [{}, TOGETHER],
  [{}, SIGNS_IN],
  [{}, [['nameOverride=my.mesh', 'the objects\' names would begin with "shop-my.mesh"']]],
  [{ release: '2nd' }, [['', 'the objects\' names would begin with "2nd-taskmesh"']]],
  [{ release: 'tasks.eu' }, IN_ONE_POD],
  [{ values: 'values-trial.yaml', release: '007' }, IN_A_TRIAL],
])('contradictions of values are all reported at once, with path and remedy: %j', async (options, refused) => {
  const message = await render({ ...options, set: refused.map(([set]) => set).join(' ') }).catch(String);
  for (const sentence of refused.flatMap(([, ...sentences]) => sentences)) expect(message).toContain(sentence);
});

const FOLDER = join(CHARTS, 'taskmesh');
const NODE_PORT = 'gateway.service.type=NodePort,gateway.service.externalTrafficPolicy=Cluster,migrations.mode=job';
const notes = (...args: string[]) =>
  runHelm(['install', 'shop', FOLDER, '--dry-run=client', '--namespace', 'prod', '--hide-secret', ...args]);

it.each([
  {
    args: [],
    says: [
      'port-forward service/shop-taskmesh-gateway',
      'http://127.0.0.1:4000 (the console for people)',
      'The token of operators, for /#/operations',
      'get secret shop-taskmesh-keys',
      'helm test shop -n prod',
      'mails reach no one',
      'archives are not encrypted',
      'helm upgrade --timeout 11m',
    ],
    hides: ['externalTrafficPolicy'],
  },
  {
    args: ['--set', NODE_PORT],
    says: ['externalTrafficPolicy is Cluster: all callers have the address of a node'],
    hides: ['--timeout'],
  },
  {
    args: ['-f', join(FOLDER, 'values-trial.yaml')],
    says: [
      'service/shop-taskmesh 4000:80',
      'http://127.0.0.1:4000/#/operations',
      'exec deployment/shop-taskmesh -- cat /data/keys/machine-token',
      'is for trials',
    ],
    hides: ['backup-token'],
  },
  {
    args: ['-f', join(FOLDER, 'ci/hpa-ingress-values.yaml')],
    says: ['https://tasks.example.com/api/docs', 'TRUSTED_PROXIES is empty: behind the proxy all callers are one'],
    hides: ['port-forward'],
  },
  {
    args: ['-f', join(FOLDER, 'ci/tls-sasl-values.yaml')],
    says: ['https://tasks.example.com     the console', 'https://tasks.example.com/api/docs'],
    hides: ['Mind:', 'backup-token', 'machine-token'],
  },
])('the notes lead to the product and warn of what is not secured: $args', async ({ args, says, hides }) => {
  const text = (await notes(...args)).split('NOTES:')[1] ?? '';
  for (const part of says) expect(text).toContain(part);
  for (const part of hides) expect(text).not.toContain(part);
});
