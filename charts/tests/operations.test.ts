import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHARTS } from '../tools/generated.ts';
import { render, runHelm } from '../tools/helm.ts';
import { serving, type Manifest } from '../tools/manifest.ts';
import { alertsOf, allAlerts } from './alerts.ts';

const ROOT = join(CHARTS, '..');
const ofKind = (manifests: Manifest[], kind: string) => manifests.filter((each) => each.kind === kind);

describe('scaling', () => {
  it('by default: two of what serves, one backup, and a budget where there is more than one', async () => {
    const manifests = await render();
    const replicas = Object.fromEntries(
      serving(manifests).map(({ metadata, spec }) => [metadata.name, spec?.replicas]),
    );
    expect(replicas).toEqual({
      'shop-taskmesh-gateway': 2,
      'shop-taskmesh-auth': 2,
      'shop-taskmesh-tasks': 2,
      'shop-taskmesh-backup': 1,
    });
    const budgets = ofKind(manifests, 'PodDisruptionBudget');
    expect(budgets.map(({ metadata }) => metadata.name)).toEqual(
      ['gateway', 'auth', 'tasks'].map((name) => `shop-taskmesh-${name}`),
    );
    for (const { spec } of budgets)
      expect(spec).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
    expect(ofKind(await render({ values: 'ci/bare.yaml' }), 'PodDisruptionBudget')).toEqual([]);
  });

  it.each([
    { values: 'ci/hpa-ingress.yaml', kind: 'HorizontalPodAutoscaler' },
    { values: 'ci/keda.yaml', kind: 'ScaledObject' },
  ])('leaves the number of pods to $kind', async ({ values, kind }) => {
    const manifests = await render({ values });
    expect(ofKind(manifests, kind)).toHaveLength(3);
    const numbers = serving(manifests).map(({ spec }) => spec?.replicas);
    expect(numbers).toEqual([undefined, undefined, undefined, 1]);
    expect(ofKind(manifests, 'PodDisruptionBudget')).toHaveLength(3);
  });

  it('looks at CPU and connections (HPA)', async () => {
    const [gateway, auth] = ofKind(await render({ values: 'ci/hpa-ingress.yaml' }), 'HorizontalPodAutoscaler');
    expect(gateway?.spec?.metrics).toMatchObject([
      { resource: { name: 'cpu', target: { averageUtilization: 70 } } },
      { pods: { metric: { name: 'taskmesh_realtime_connections' }, target: { averageValue: '2000' } } },
    ]);
    expect(auth?.spec?.metrics).toHaveLength(1);
  });

  it('looks at connections and at what waits to be published (KEDA), in texts as KEDA wants them', async () => {
    const [gateway, , tasks] = ofKind(await render({ values: 'ci/keda.yaml' }), 'ScaledObject');
    expect(gateway?.spec?.triggers?.[1]?.metadata).toEqual({
      serverAddress: 'http://prometheus.monitoring:9090',
      query: 'sum(taskmesh_realtime_connections{namespace="prod",job="shop-taskmesh-gateway-admin"})',
      threshold: '2000',
    });
    expect(tasks?.spec?.triggers?.[1]?.metadata.query).toContain('taskmesh_outbox_pending_messages');
    const texts = [gateway, tasks]
      .flatMap((each) => each?.spec?.triggers ?? [])
      .flatMap(({ metadata }) => Object.values(metadata));
    expect(texts.every((text) => typeof text === 'string')).toBe(true);
  });
});

describe('routes', () => {
  it('lead everything to the gateway, without an end for streams', async () => {
    const [route] = ofKind(await render({ values: 'ci/gateway-api.yaml' }), 'HTTPRoute');
    expect(route?.spec).toMatchObject({
      hostnames: ['tasks.example.com'],
      parentRefs: [{ name: 'public', namespace: 'gateways' }],
      rules: [{ timeouts: { request: '0s' }, backendRefs: [{ name: 'shop-taskmesh-gateway', port: 80 }] }],
    });
  });

  it('are an Ingress where there is no Gateway', async () => {
    const [ingress] = ofKind(await render({ values: 'ci/hpa-ingress.yaml' }), 'Ingress');
    expect(ingress?.spec).toMatchObject({
      ingressClassName: 'nginx',
      tls: [{ secretName: 'tasks-tls', hosts: ['tasks.example.com'] }],
      rules: [{ host: 'tasks.example.com' }],
    });
  });
});

describe('alerts', () => {
  const values = 'ci/monitoring.yaml';
  it('each lead to a runbook that is there, and says the alert’s name', async () => {
    const rules = await allAlerts();
    expect(rules.length).toBeGreaterThan(10);
    for (const { alert, annotations } of rules) {
      const file = join(ROOT, 'docs/runbooks', annotations.runbook_url.split('/').at(-1) ?? '');
      expect([alert, readFileSync(file, 'utf8').includes(alert)]).toEqual([alert, true]);
    }
  });

  it('are those that runbooks speak of', async () => {
    const told = globSync('docs/runbooks/*.md', { cwd: ROOT }).flatMap(
      (file) => readFileSync(join(ROOT, file), 'utf8').match(/\bTaskmesh[A-Z][A-Za-z]+\b/g) ?? [],
    );
    expect(new Set(told)).toEqual(new Set((await allAlerts()).map(({ alert }) => alert)));
  });

  it('can be left out, and get labels', async () => {
    const rules = await alertsOf({ values });
    expect(rules.map(({ alert }) => alert)).not.toContain('TaskmeshClientsTooSlow');
    expect(rules).toHaveLength((await allAlerts()).length - 1);
    expect(rules.every(({ labels }) => labels.team === 'tasks' && labels.severity !== undefined)).toBe(true);
  });

  it('look at this release only', async () => {
    for (const { expr } of await allAlerts()) {
      expect(expr).toContain('namespace="prod"');
      expect(expr).not.toContain('$SELECTOR');
    }
  });
});

describe('every figure that is looked at', () => {
  const documented = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const known = (name: string) =>
    [name, name.replace(/_(bucket|count|sum)$/, '')].some((each) => documented.includes(`\`${each}\``)) ||
    /^(nodejs|process)_/.test(name);
  const namesIn = (text: string) => text.match(/\b[a-z]+(?:_[a-z0-9]+)+(?=\{)/g) ?? [];

  it.each(['files/alerts.yaml', 'files/dashboards/taskmesh.json'])('is one that the product has: %s', (file) => {
    const text = readFileSync(join(CHARTS, 'taskmesh', file), 'utf8');
    const names = namesIn(text);
    expect(names.length).toBeGreaterThan(10);
    expect([...new Set(names)].filter((name) => !known(name))).toEqual([]);
  });

  it('dashboards are there for Grafana’s sidecar', async () => {
    const [dashboards] = ofKind(await render({ values: 'ci/monitoring.yaml' }), 'ConfigMap');
    expect(dashboards?.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    expect(dashboards?.metadata.annotations).toMatchObject({ grafana_folder: 'Taskmesh' });
    expect(JSON.parse(dashboards?.data?.['taskmesh.json'] ?? '')).toMatchObject({ title: 'Taskmesh' });
  });

  it('is scraped at the admin port of every service', async () => {
    const manifests = await render({ values: 'ci/monitoring.yaml' });
    const [monitor] = ofKind(manifests, 'ServiceMonitor');
    expect(monitor?.metadata.labels).toMatchObject({ release: 'prometheus' });
    expect(monitor?.spec).toMatchObject({ endpoints: [{ port: 'admin', path: '/metrics' }] });
    const scraped = ofKind(manifests, 'Service').filter(({ spec }) =>
      (spec?.ports as { name: string }[]).some(({ name }) => name === 'admin'),
    );
    expect(scraped).toHaveLength(4);
  });
});

describe('values that do not go together', () => {
  it.each<[Record<string, unknown>, string]>([
    [
      { 'keys.generate': false },
      'keys.accessTokens.existingSecret is empty: name a secret, or set keys.generate to true',
    ],
    [{ 'backup.replicas': 2 }, 'set backup.s3.existingSecret, or backup.replicas to 1'],
    [{ 'kafka.sasl.mechanism': 'plain' }, 'kafka.sasl.gateway lacks username or existingSecret'],
    [{ 'kafka.tls.ca.existingSecret': 'ca' }, 'kafka.tls.enabled is false: set it to true'],
    [
      { 'kafka.clientCertificates.tasks.existingSecret': 'c' },
      'kafka.clientCertificates.tasks is set, but kafka.tls.enabled',
    ],
    [{ 'gateway.autoscaling.mode': 'keda' }, 'set prometheus.address to where Prometheus answers'],
    [{ 'tasks.autoscaling.minReplicas': 9 }, 'tasks.autoscaling.minReplicas is above maxReplicas: lower it'],
    [{ 'backup.settings.BACKUP_SCHEDULE': '' }, 'BACKUP_KEEP needs backup.settings.BACKUP_SCHEDULE'],
    [{ 'backup.settings.BACKUP_MAIL_TO': 'a@example.com' }, 'set auth.smtp.existingSecret, or BACKUP_MAIL_TO to'],
    [
      { 'backup.settings.BACKUP_RECIPIENTS': 'age1x' },
      'set backup.encryption.existingSecret, or BACKUP_VERIFY to false',
    ],
    [{ 'gateway.trustedDocuments.mode': 'only' }, 'set gateway.trustedDocuments.existingConfigMap'],
    [{ 'httpRoute.enabled': true }, 'set httpRoute.parentRefs to your Gateway'],
    [{ 'ingress.enabled': true }, 'set ingress.hosts, such as [tasks.example.com]'],
    [{ 'externalSecrets.enabled': true }, 'set externalSecrets.storeRef.name to your store'],
    [{ 'externalSecrets.enabled': true }, 'list what to fetch under externalSecrets.secrets'],
    [{ mode: 'allInOne' }, 'with mode allInOne set keys.backupToken.existingSecret, or settings.NODE_ENV'],
    [{ 'gateway.resources.limits.memory': '500000k' }, 'write it in Mi or Gi, such as 512Mi'],
  ])('are refused with a sentence that names the path and the remedy: %j', async (set, sentence) => {
    await expect(render({ set })).rejects.toThrow(sentence);
  });

  it('are told all at once', async () => {
    const wrong = render({ set: { 'ingress.enabled': true, 'httpRoute.enabled': true } });
    await expect(wrong).rejects.toThrow(/httpRoute.parentRefs[^]*ingress.hosts/);
  });
});

describe('what is said after an install', () => {
  const notes = (...args: string[]) =>
    runHelm([
      'install',
      'shop',
      join(CHARTS, 'taskmesh'),
      '--dry-run=client',
      '--namespace',
      'prod',
      '--hide-secret',
      ...args,
    ]);

  it.each([
    {
      args: [],
      says: [
        'port-forward service/shop-taskmesh-gateway',
        'helm test shop -n prod',
        'mails reach nobody',
        'archives are not encrypted',
      ],
      hides: [],
    },
    {
      args: ['-f', join(CHARTS, 'taskmesh/values-trial.yaml')],
      says: ['service/shop-taskmesh 4000:80', 'is for trials'],
      hides: ['backup-token'],
    },
    {
      args: ['-f', join(CHARTS, 'taskmesh/ci/tls-sasl.yaml')],
      says: ['https://tasks.example.com/api/docs'],
      hides: ['Mind:', 'backup-token'],
    },
  ])('leads to the product and warns of what is open: $args', async ({ args, says, hides }) => {
    const text = (await notes(...args)).split('NOTES:')[1] ?? '';
    for (const part of says) expect(text).toContain(part);
    for (const part of hides) expect(text).not.toContain(part);
  });
});
