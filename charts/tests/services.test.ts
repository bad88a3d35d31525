import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHARTS } from '../tools/generated.ts';
import { render, type RenderOptions } from './support/helm.ts';
import { isSelected, serving } from './support/manifest.ts';
import { containerOf, envOf, filesOf, named, SERVICES } from './containers.ts';

const YOUNG = '--max-semi-space-size=32';

describe('the services', () => {
  it('run one image with the name of the service', async () => {
    for (const name of SERVICES) {
      const { image, args, command } = await containerOf(name);
      expect([image, args, command]).toEqual(['taskmesh:0.2.0', [name], undefined]);
    }
  });

  it('listen on all interfaces of the pod, and write below /data', async () => {
    for (const name of SERVICES)
      expect(envOf(await containerOf(name))).toMatchObject({
        HOST: '::',
        PORT: '4000',
        ADMIN_HOST: '::',
        ADMIN_PORT: '14000',
        DATA_DIR: '/data',
        NODE_ENV: 'production',
      });
  });

  it('have the addresses of each other', async () => {
    const urls = {
      AUTH_URL: 'http://shop-taskmesh-auth:4000',
      TASKS_URL: 'http://shop-taskmesh-tasks:4000',
      BACKUP_URL: 'http://shop-taskmesh-backup:4000',
    };
    expect(envOf(await containerOf('gateway'))).toMatchObject(urls);
    const { BACKUP_URL: _own, ...others } = urls;
    expect(envOf(await containerOf('backup'))).toMatchObject(others);
    expect(envOf(await containerOf('tasks')).AUTH_URL).toBe(urls.AUTH_URL);
    const manifests = await render();
    for (const name of ['auth', 'tasks', 'backup'])
      expect(named(manifests, 'Service', `shop-taskmesh-${name}`)?.spec).toMatchObject({
        type: 'ClusterIP',
        ports: [{ port: 4000, targetPort: 'http' }],
        ...(name === 'backup' && { publishNotReadyAddresses: true }), // new gateways do not wait for its database
      });
  });

  it('are each selected by their services, and by no others', async () => {
    const manifests = await render();
    const pods = serving(manifests);
    for (const { metadata, spec } of manifests.filter(({ kind }) => kind === 'Service')) {
      const labels = { matchLabels: spec?.selector as Record<string, string> };
      const selected = pods.filter(({ template }) => isSelected(labels, template.metadata.labels));
      expect(selected.map((pod) => pod.metadata.name)).toEqual([metadata.name.replace(/-admin$/, '')]);
    }
  });

  it('keep the admin port out of the public service', async () => {
    const manifests = await render({ values: 'ci/everything-said-values.yaml' });
    expect(named(manifests, 'Service', 'mesh-gateway')?.spec).toMatchObject({
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ports: [{ port: 8080, targetPort: 'http' }],
    });
    expect(named(manifests, 'Service', 'mesh-gateway')?.spec?.ports).toHaveLength(1);
    expect(named(manifests, 'Service', 'mesh-gateway-admin')?.spec).toMatchObject({ clusterIP: 'None' });
  });

  it('preserve client addresses for the gateway, unless nodes may forward for each other', async () => {
    const policyOf = async (set: object) =>
      named(await render({ set: { ...set } }), 'Service', 'shop-taskmesh-gateway')?.spec?.externalTrafficPolicy;
    expect(await policyOf({})).toBeUndefined(); // refused for a ClusterIP
    expect(await policyOf({ 'gateway.service.type': 'NodePort' })).toBe('Local');
    const cluster = { 'gateway.service.type': 'LoadBalancer', 'gateway.service.externalTrafficPolicy': 'Cluster' };
    expect(await policyOf(cluster)).toBe('Cluster');
  });

  it('keep their heap within the memory limit, with a smaller young generation than by default', async () => {
    expect(envOf(await containerOf('gateway')).NODE_OPTIONS).toBe(`--max-old-space-size=460 ${YOUNG}`);
    const set = { 'gateway.resources.limits.memory': '2Gi', 'gateway.heapPercent': 50 };
    expect(envOf(await containerOf('gateway', { set })).NODE_OPTIONS).toBe(`--max-old-space-size=1024 ${YOUNG}`);
  });

  it('have enough time to stop, including the pause before it', async () => {
    const source = readFileSync(join(CHARTS, '../libs/service/src/run-service.ts'), 'utf8');
    const deadlineMs = Number(/STOP_DEADLINE_MS = ([\d_]+)/.exec(source)?.[1]?.replaceAll('_', ''));
    expect(deadlineMs).toBeGreaterThan(0);
    for (const values of ['values.yaml', 'ci/everything-said-values.yaml'])
      for (const { template } of serving(await render({ values })))
        for (const { lifecycle } of template.spec.containers)
          expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
            (lifecycle?.preStop?.sleep.seconds ?? 0) + deadlineMs / 1_000 + 2,
          );
  });

  it('are updated one by one without a gap, and backup with a directory of its own is stopped first', async () => {
    const strategies = async (options?: RenderOptions) =>
      Object.fromEntries(
        serving(await render(options)).map(({ metadata, spec }) => [metadata.name.split('-').at(-1), spec?.strategy]),
      );
    const rolling = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '25%' } };
    expect(await strategies()).toEqual({
      gateway: rolling,
      auth: rolling,
      tasks: rolling,
      backup: { type: 'Recreate' },
    });
    expect((await strategies({ values: 'ci/tls-sasl-values.yaml' })).backup).toEqual(rolling);
  });

  // Nodes may have no zone, and with DoNotSchedule would get no pod.
  it.each(['ScheduleAnyway', 'DoNotSchedule'])('are spread over zones and hosts by revision: %s', async (spread) => {
    const each = { matchLabelKeys: ['pod-template-hash'] };
    for (const { template } of serving(await render({ set: { 'pod.topologySpread': spread } })))
      expect(template.spec.topologySpreadConstraints).toMatchObject([
        { ...each, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
        { ...each, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: spread },
      ]);
  });
});

describe('settings', () => {
  it('go to the service that reads them', async () => {
    expect(envOf(await containerOf('gateway'))).toMatchObject({ GRAPHQL_MAX_DEPTH: '12', TRUSTED_DOCUMENTS: 'off' });
    expect(envOf(await containerOf('auth'))).toMatchObject({ ACCESS_TOKEN_TTL_S: '3600' });
    expect(envOf(await containerOf('auth'))).not.toHaveProperty('GRAPHQL_MAX_DEPTH');
    expect(envOf(await containerOf('tasks'))).toMatchObject({ CHANGE_RETENTION_HOURS: '168' });
    expect(envOf(await containerOf('backup'))).toMatchObject({
      BACKUP_SCHEDULE: '30 3 * * *',
      BACKUPS_DIR: '/backups',
    });
  });

  it('keep their values: large numbers, fractions, false', async () => {
    const values = 'ci/everything-said-values.yaml';
    expect(envOf(await containerOf('gateway', { values }))).toMatchObject({
      REALTIME_MAX_MESSAGE_BYTES: '10485760',
      GRAPHQL_INTROSPECTION: 'false',
      SUPERGRAPH_FILE: '/etc/taskmesh-supergraph/supergraph.graphql',
      TRUSTED_DOCUMENTS_FILE: '/etc/taskmesh-documents/documents.json',
    });
    expect(envOf(await containerOf('tasks', { values })).CHANGE_RETENTION_HOURS).toBe('0.5');
    expect(envOf(await containerOf('auth', { values })).RATE_LIMIT_FACTOR).toBe('0.5');
  });

  it('end live connections after half an hour with autoscaling, unless set otherwise', async () => {
    const name = 'REALTIME_MAX_CONNECTION_AGE_S';
    const ageOf = async (options: RenderOptions) => envOf(await containerOf('gateway', options))[name];
    const scaled = ['ci/hpa-ingress-values.yaml', 'ci/keda-values.yaml'];
    expect(await ageOf({})).toBeUndefined();
    for (const values of scaled) expect(await ageOf({ values })).toBe('1800');
    for (const age of [0, 600, '600'])
      for (const values of ['values.yaml', ...scaled])
        expect(await ageOf({ values, set: { [`gateway.settings.${name}`]: age } })).toBe(String(age));
  });

  it('without a value are omitted', async () => {
    const env = envOf(await containerOf('gateway'));
    for (const name of ['TRUSTED_PROXIES', 'GRAPHQL_INTROSPECTION', 'PUBLIC_URL', 'SUPERGRAPH_FILE'])
      expect(env).not.toHaveProperty(name);
  });

  it.each([
    { values: 'ci/gateway-api-values.yaml', url: 'https://tasks.example.com' },
    { values: 'ci/hpa-ingress-values.yaml', url: 'https://tasks.example.com' },
    { values: 'values.yaml', url: undefined },
  ])('lead links to the first public host: $values', async ({ values, url }) => {
    expect(envOf(await containerOf('gateway', { values })).PUBLIC_URL).toBe(url);
    expect(envOf(await containerOf('auth', { values })).PUBLIC_URL).toBe(url);
  });
});

describe('secrets', () => {
  it('are mounted in the pods that need them only', async () => {
    const made = 'shop-taskmesh-keys';
    const secretsIn = (env: Record<string, string>) =>
      Object.values(env)
        .filter((value) => /^(taskmesh|shop)-[\w-]+\/[\w-]+$/.test(value))
        .toSorted();
    expect(secretsIn(envOf(await containerOf('gateway')))).toEqual([
      `${made}/backup-token`,
      'taskmesh-redis/redis-url',
    ]);
    expect(secretsIn(envOf(await containerOf('auth')))).toEqual([
      'taskmesh-postgresql/auth-url',
      'taskmesh-redis/redis-url',
    ]);
    expect(secretsIn(envOf(await containerOf('tasks')))).toEqual(['taskmesh-postgresql/tasks-url']);
    expect(secretsIn(envOf(await containerOf('backup')))).toEqual(
      ['auth-admin-url', 'backup-url', 'tasks-admin-url'].map((key) => `taskmesh-postgresql/${key}`),
    );
    expect(await filesOf('gateway')).toEqual({ '/etc/taskmesh/identity/key.json': `${made}/gateway-identity.json` });
    expect(await filesOf('auth')).toEqual({
      '/etc/taskmesh/identity/public.json': `${made}/identity-public.json`,
      '/etc/taskmesh/access-tokens/keys.json': `${made}/access-token-keys.json`,
    });
    expect(await filesOf('tasks')).toEqual({
      '/etc/taskmesh/identity/public.json': `${made}/identity-public.json`,
      '/etc/taskmesh/identity/key.json': `${made}/tasks-identity.json`,
    });
    expect(await filesOf('backup')).toEqual({
      '/etc/taskmesh/identity/public.json': `${made}/identity-public.json`,
      '/etc/taskmesh/identity/key.json': `${made}/backup-identity.json`,
    });
  });

  it.each(['ci/tls-sasl-values.yaml', 'ci/mutual-tls-values.yaml'])(
    'that settings name as files are mounted: %s',
    async (values) => {
      for (const name of SERVICES) {
        const files = Object.keys(await filesOf(name, { values }));
        const set = Object.values(envOf(await containerOf(name, { values }))).flatMap(
          (value) => value.match(/\/etc\/taskmesh\/[\w./-]+/g) ?? [],
        );
        expect(new Set(set)).toEqual(new Set(files));
      }
    },
  );

  it('of servers over TLS have the paths that the services read', async () => {
    const values = 'ci/tls-sasl-values.yaml';
    const kafka = (user: string) =>
      `kafkas://${user}@kafka-1.example.com:9093,kafka-2.example.com:9093?mechanism=scram-sha-512&sslrootcert=/etc/taskmesh/kafka/ca.crt`;
    expect(envOf(await containerOf('tasks', { values }))).toMatchObject({
      POSTGRES_URL_PLAIN: 'tasks-db/uri',
      POSTGRES_URL: '$(POSTGRES_URL_PLAIN)?sslmode=verify-full&sslrootcert=/etc/taskmesh/postgresql/tasks.crt',
      KAFKA_BROKERS: kafka('tasks'),
      KAFKA_SASL_PASSWORD: expect.stringMatching(/^kafka/),
    });
    expect(envOf(await containerOf('gateway', { values }))).toMatchObject({
      KAFKA_BROKERS: kafka('gateway'),
      REDIS_URL: '$(REDIS_URL_PLAIN)?sslrootcert=/etc/taskmesh/redis/ca.crt',
    });
    expect(envOf(await containerOf('backup', { values }))).toMatchObject({
      AUTH_ADMIN_URL: '$(AUTH_ADMIN_URL_PLAIN)?sslmode=verify-full&sslrootcert=/etc/taskmesh/postgresql/auth.crt',
      BACKUP_S3_URL: 'bucket/s3-url',
      BACKUP_KEY_FILE: '/etc/taskmesh/encryption/keys.txt',
    });
    expect(envOf(await containerOf('auth', { values }))).toMatchObject({
      SMTP_URL: 'smtp/smtp-url',
      OIDC_CLIENT_SECRET: 'login/oidc-client-secret',
    });
  });

  it('of mails and of a webhook are given to backup when it notifies operators', async () => {
    const set = { 'auth.smtp.existingSecret': 'smtp', 'auth.settings.MAIL_FROM': 'tasks@example.com' };
    expect(envOf(await containerOf('backup', { set }))).not.toHaveProperty('SMTP_URL');
    const telling = {
      ...set,
      'backup.settings.BACKUP_MAIL_TO': 'ops@example.com',
      'backup.webhook.existingSecret': 'chat',
    };
    expect(envOf(await containerOf('backup', { set: telling }))).toMatchObject({
      SMTP_URL: 'smtp/smtp-url',
      MAIL_FROM: 'tasks@example.com',
      BACKUP_MAIL_TO: 'ops@example.com',
      BACKUP_WEBHOOK_URL: 'chat/webhook-url',
    });
  });

  it('are in no rendered file', async () => {
    for (const values of ['values.yaml', 'values-trial.yaml', 'ci/tls-sasl-values.yaml'])
      expect((await render({ values })).filter(({ kind }) => kind === 'Secret')).toEqual([]);
  });
});
