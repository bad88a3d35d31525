import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHARTS } from '../tools/generated.ts';
import { render, type RenderOptions, renderText } from './support/helm.ts';
import { isSelected, KEPT, ofKind, serving } from './support/manifest.ts';
import { containerOf, envOf, filesOf, named, SERVICES } from './containers.ts';

/** The services with a store. */
const STORES = ['auth', 'tasks', 'backup'];
const YOUNG = '--max-semi-space-size=32';

describe('the services', () => {
  it('run one image with the name of the service, listen on all interfaces of the pod, and write below /data', async () => {
    const common = {
      HOST: '::',
      PORT: '4000',
      ADMIN_HOST: '::',
      ADMIN_PORT: '14000',
      DATA_DIR: '/data',
      NODE_ENV: 'production',
    };
    for (const name of SERVICES) {
      const container = await containerOf(name);
      expect(container).toMatchObject({ image: 'taskmesh:0.2.0', args: [name] });
      expect(container).not.toHaveProperty('command');
      expect(envOf(container)).toMatchObject(common);
    }
  });

  it('have the addresses of each other', async () => {
    const [AUTH_URL, TASKS_URL, BACKUP_URL] = STORES.map((name) => `http://shop-taskmesh-${name}:4000`);
    expect(envOf(await containerOf('gateway'))).toMatchObject({ AUTH_URL, TASKS_URL, BACKUP_URL });
    expect(envOf(await containerOf('backup'))).toMatchObject({ AUTH_URL, TASKS_URL });
    expect(envOf(await containerOf('tasks'))).toMatchObject({ AUTH_URL });
    const manifests = await render();
    for (const name of STORES)
      expect(named(manifests, 'Service', `shop-taskmesh-${name}`)?.spec).toMatchObject({
        type: 'ClusterIP',
        ports: [{ port: 4000, targetPort: 'http' }],
        ...(name === 'backup' && { publishNotReadyAddresses: true }), // new gateways do not wait for its database
      });
  });

  it('are each selected by their services, and by no others', async () => {
    const manifests = await render();
    const pods = serving(manifests);
    for (const { metadata, spec } of ofKind(manifests, 'Service')) {
      const labels = { matchLabels: spec?.selector as Record<string, string> };
      const selected = pods.filter(({ template }) => isSelected(labels, template.metadata.labels));
      expect(selected.map((pod) => pod.metadata.name)).toEqual([metadata.name.replace(/-admin$/, '')]);
    }
  });

  it('keep the admin port out of the public service, and preserve client addresses there, unless nodes may forward', async () => {
    const manifests = await render({ values: 'ci/everything-set-values.yaml' });
    expect(named(manifests, 'Service', 'mesh-gateway')?.spec).toMatchObject({
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ports: [{ port: 8080, targetPort: 'http' }],
    });
    expect(named(manifests, 'Service', 'mesh-gateway-admin')?.spec).toMatchObject({ clusterIP: 'None' });
    const policyOf = async (set: string) =>
      named(await render({ set }), 'Service', 'shop-taskmesh-gateway')?.spec?.externalTrafficPolicy;
    const type = 'gateway.service.type=LoadBalancer';
    const policies = ['', type, `${type} gateway.service.externalTrafficPolicy=Cluster`].map(policyOf);
    expect(await Promise.all(policies)).toEqual([undefined, 'Local', 'Cluster']); // refused for a ClusterIP
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
    for (const values of ['values.yaml', 'ci/everything-set-values.yaml'])
      for (const { template } of serving(await render({ values })))
        for (const { lifecycle } of template.spec.containers) {
          const leastS = (lifecycle?.preStop?.sleep.seconds ?? 0) + deadlineMs / 1_000 + 2;
          expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(leastS);
        }
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
  const ALL_SET = 'ci/everything-set-values.yaml';
  it.each<[service: string, values: string, env: object, without?: string[]]>([
    [
      'gateway',
      'values.yaml',
      { GRAPHQL_MAX_DEPTH: '12', TRUSTED_DOCUMENTS: 'off' },
      ['TRUSTED_PROXIES', 'GRAPHQL_INTROSPECTION', 'PUBLIC_URL', 'SUPERGRAPH_FILE'],
    ],
    ['auth', 'values.yaml', { ACCESS_TOKEN_TTL_S: '3600' }, ['GRAPHQL_MAX_DEPTH', 'PUBLIC_URL']],
    ['tasks', 'values.yaml', { CHANGE_RETENTION_HOURS: '168' }],
    ['backup', 'values.yaml', { BACKUP_SCHEDULE: '30 3 * * *', BACKUPS_DIR: '/backups' }],
    [
      'gateway',
      ALL_SET,
      {
        ...{ REALTIME_MAX_MESSAGE_BYTES: '10485760', GRAPHQL_INTROSPECTION: 'false' },
        SUPERGRAPH_FILE: '/etc/taskmesh-supergraph/supergraph.graphql',
        TRUSTED_DOCUMENTS_FILE: '/etc/taskmesh-documents/documents.json',
      },
    ],
    ['tasks', ALL_SET, { CHANGE_RETENTION_HOURS: '0.5' }],
    ['auth', ALL_SET, { RATE_LIMIT_FACTOR: '0.5' }],
    // Links lead to the first public host.
    ...['gateway', 'auth'].flatMap((name): [string, string, object][] => [
      [name, 'ci/gateway-api-values.yaml', { PUBLIC_URL: 'https://tasks.example.com' }],
      [name, 'ci/hpa-ingress-values.yaml', { PUBLIC_URL: 'https://tasks.example.com' }],
    ]),
  ])('go to %s with %s: %j, and without a value are omitted', async (name, values, expected, without = []) => {
    const env = envOf(await containerOf(name, { values }));
    expect(env).toMatchObject(expected);
    for (const each of without) expect(env).not.toHaveProperty(each);
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
});

describe('secrets', () => {
  it('are mounted in the pods that need them only', async () => {
    const made = 'shop-taskmesh-keys';
    const secretsOf = async (name: string) => ({
      variables: Object.values(envOf(await containerOf(name)))
        .filter((value) => /^(taskmesh|shop)-[\w-]+\/[\w-]+$/.test(value))
        .toSorted(),
      files: await filesOf(name),
    });
    const keyOf = (name: string) => ({ '/etc/taskmesh/identity/key.json': `${made}/${name}-identity.json` });
    const known = { '/etc/taskmesh/identity/public.json': `${made}/identity-public.json` };
    const postgres = (...keys: string[]) => keys.map((key) => `taskmesh-postgresql/${key}`);
    const redis = 'taskmesh-redis/redis-url';
    const found = await Promise.all(SERVICES.map(async (name) => [name, await secretsOf(name)]));
    expect(Object.fromEntries(found)).toEqual({
      gateway: { variables: [`${made}/backup-token`, redis], files: keyOf('gateway') },
      auth: {
        variables: [...postgres('auth-url'), redis],
        files: { ...known, '/etc/taskmesh/access-tokens/keys.json': `${made}/access-token-keys.json` },
      },
      tasks: { variables: postgres('tasks-url'), files: { ...known, ...keyOf('tasks') } },
      backup: {
        variables: postgres('auth-admin-url', 'backup-url', 'tasks-admin-url'),
        files: { ...known, ...keyOf('backup') },
      },
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

  const kafka = (user: string) =>
    `kafkas://${user}@kafka-1.example.com:9093,kafka-2.example.com:9093?mechanism=scram-sha-512&sslrootcert=/etc/taskmesh/kafka/ca.crt`;
  it.each(
    Object.entries({
      tasks: {
        POSTGRES_URL_PLAIN: 'tasks-db/uri',
        POSTGRES_URL: '$(POSTGRES_URL_PLAIN)?sslmode=verify-full&sslrootcert=/etc/taskmesh/postgresql/tasks.crt',
        KAFKA_BROKERS: kafka('tasks'),
        KAFKA_SASL_PASSWORD: expect.stringMatching(/^kafka/),
      },
      gateway: {
        KAFKA_BROKERS: kafka('gateway'),
        REDIS_URL: '$(REDIS_URL_PLAIN)?sslrootcert=/etc/taskmesh/redis/ca.crt',
      },
      backup: {
        AUTH_ADMIN_URL: '$(AUTH_ADMIN_URL_PLAIN)?sslmode=verify-full&sslrootcert=/etc/taskmesh/postgresql/auth.crt',
        BACKUP_S3_URL: 'bucket/s3-url',
        BACKUP_KEY_FILE: '/etc/taskmesh/encryption/keys.txt',
      },
      auth: { SMTP_URL: 'smtp/smtp-url', OIDC_CLIENT_SECRET: 'login/oidc-client-secret' },
    }),
  )('of servers over TLS have the paths that %s reads', async (name, env) => {
    expect(envOf(await containerOf(name, { values: 'ci/tls-sasl-values.yaml' }))).toMatchObject(env);
  });

  it('of mails and of a webhook are given to backup when it notifies operators', async () => {
    const set = { 'auth.smtp.existingSecret': 'smtp', 'auth.settings.MAIL_FROM': 'tasks@example.com' };
    expect(envOf(await containerOf('backup', { set }))).not.toHaveProperty('SMTP_URL');
    const notify = { 'backup.settings.BACKUP_MAIL_TO': 'ops@example.com', 'backup.webhook.existingSecret': 'chat' };
    expect(envOf(await containerOf('backup', { set: { ...set, ...notify } }))).toMatchObject({
      SMTP_URL: 'smtp/smtp-url',
      MAIL_FROM: 'tasks@example.com',
      BACKUP_MAIL_TO: 'ops@example.com',
      BACKUP_WEBHOOK_URL: 'chat/webhook-url',
    });
  });

  it('are in no rendered file', async () => {
    for (const values of ['values.yaml', 'values-trial.yaml', 'ci/tls-sasl-values.yaml'])
      expect(ofKind(await render({ values }), 'Secret')).toEqual([]);
  });
});

const traced = (set: Record<string, unknown> = {}): RenderOptions => ({
  set: { 'telemetry.endpoint': 'http://otel.monitoring:4318', ...set },
});

describe('telemetry', () => {
  it('is off without an endpoint', async () => expect(await renderText()).not.toMatch(/OTEL_|POD_NAME|TRACE_/));

  it.each(SERVICES)('makes %s record one of a hundred traces with the name of the pod', async (name) => {
    expect(envOf(await containerOf(name, traced()))).toMatchObject({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel.monitoring:4318',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
      TRACE_CALLERS_PER_S: '10',
      OTEL_RESOURCE_ATTRIBUTES: 'k8s.namespace.name=prod,k8s.pod.name=$(POD_NAME)',
    });
  });

  it('defines the pod before its use, and accepts more attributes and the headers of a secret', async () => {
    const more = { 'telemetry.headers.existingSecret': 'collector', 'telemetry.resourceAttributes': { team: 'tasks' } };
    const { env = [] } = await containerOf('tasks', traced(more));
    const names = env.map(({ name }) => name);
    expect(names.indexOf('POD_NAME')).toBeLessThan(names.indexOf('OTEL_RESOURCE_ATTRIBUTES'));
    expect(envOf({ env })).toMatchObject({
      OTEL_EXPORTER_OTLP_HEADERS: 'collector/otlp-headers',
      OTEL_RESOURCE_ATTRIBUTES: expect.stringMatching(/,team=tasks$/),
    });
  });
});

describe('the trial', () => {
  const values = 'values-trial.yaml';

  it('is one pod with one volume, without prerequisites', async () => {
    const manifests = await render({ values });
    expect(named(manifests, 'Service', 'shop-taskmesh')?.spec).toMatchObject({
      ports: [{ port: 80, targetPort: 'http' }],
    });
    const [pod, ...others] = serving(manifests);
    expect(others).toEqual([]);
    expect(pod).toMatchObject({ kind: 'Deployment', spec: { replicas: 1, strategy: { type: 'Recreate' } } });
    const { env = [], args, image } = await containerOf('all', { values });
    expect([image, args]).toEqual(['taskmesh:0.2.0-all', ['all']]);
    expect(env.some(({ valueFrom }) => valueFrom)).toBe(false);
    expect(ofKind(manifests, 'PersistentVolumeClaim')).toHaveLength(1);
    expect(manifests.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook']?.includes('install'))).toEqual([]);
  });

  it('runs as the user of its image, or not at all', async () => {
    for (const user of ['', 10002]) {
      const rendering = render({ values, set: { 'podSecurityContext.runAsUser': user } });
      await expect(rendering).rejects.toThrow('podSecurityContext.runAsUser must be 10001');
    }
  });

  it('accepts existing secrets for mails and archives', async () => {
    const secrets = { 'auth.smtp': 'smtp', 'backup.s3': 'bucket', 'backup.encryption': 'age' };
    const set = Object.fromEntries(Object.entries(secrets).map(([of, name]) => [`${of}.existingSecret`, name]));
    expect(envOf(await containerOf('all', { values, set }))).toMatchObject({
      SMTP_URL: 'smtp/smtp-url',
      BACKUP_S3_URL: 'bucket/s3-url',
      BACKUP_KEY_FILE: '/etc/taskmesh/encryption/keys.txt',
    });
  });
});

describe('volumes', () => {
  it('with data survive the removal of the release', async () => {
    for (const values of ['values.yaml', 'values-trial.yaml'])
      expect(ofKind(await render({ values }), 'PersistentVolumeClaim')).toMatchObject([
        { metadata: { annotations: KEPT } },
      ]);
  });

  it.each([
    { set: { 'backup.persistence.existingClaim': 'mine' }, volume: { persistentVolumeClaim: { claimName: 'mine' } } },
    { set: { 'backup.s3.existingSecret': 'bucket' }, volume: undefined },
    { set: { backup: { persistence: { enabled: false, size: '7Gi' } } }, volume: { emptyDir: { sizeLimit: '7Gi' } } },
  ])('of backups are created only when they are needed: $set', async ({ set, volume }) => {
    const manifests = await render({ set });
    expect(ofKind(manifests, 'PersistentVolumeClaim')).toEqual([]);
    const backup = serving(manifests).find(({ metadata }) => metadata.name.endsWith('-backup'));
    const found = backup?.template.spec.volumes?.filter(({ name }) => name === 'backups');
    expect(found).toEqual(volume ? [{ name: 'backups', ...volume }] : []);
  });

  it('without a claim are limited to the size of one', async () => {
    const set = { 'allInOne.persistence.enabled': false };
    const [pod] = serving(await render({ values: 'values-trial.yaml', set }));
    expect(pod?.template.spec.volumes).toContainEqual({ name: 'data', emptyDir: { sizeLimit: '10Gi' } });
  });
});
