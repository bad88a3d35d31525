import { CHART_NAMES } from '../../tools/generated.ts';
import { valuesFiles, type RenderOptions } from './helm.ts';

const LONGEST = `a${'b'.repeat(52)}`;

/** Unusual values that are allowed: each is to become objects that a server takes. Those that do not touch each other stand together. */
export const ODD_VALUES: Record<string, RenderOptions> = {
  'a release like a number': { release: '1e3', set: { fullnameOverride: 'mesh' } },
  'a release like a number that stays inside': { release: '007', set: { fullnameOverride: 'e3', nameOverride: '1e3' } },
  'a release with a dot': { release: 'tasks.eu', set: { fullnameOverride: 'tasks-eu' } },
  'a release like a truth': { release: 'true' },
  'the longest release, in one pod': { release: `a${'-b'.repeat(26)}`, values: 'values-trial.yaml' },
  'the longest release': { release: LONGEST },
  'a name cut at a hyphen': { set: { fullnameOverride: `${'a'.repeat(36)}---${'b'.repeat(30)}` } },
  'a chart’s name cut at a hyphen': { release: 'x', set: { nameOverride: `${'a'.repeat(35)}---${'b'.repeat(30)}` } },
  'names like truths, in one pod, with a claim like a number, and a host with a star and one without': {
    ...{ release: 'on', values: 'values-trial.yaml' },
    set: {
      fullnameOverride: 'yes',
      ingress: { enabled: true, hosts: ['*.example.com', '1.example.com'], tlsSecret: '1' },
      'allInOne.persistence': { existingClaim: '2' },
      'allInOne.pod': { preStopSeconds: 0 },
    },
  },
  'a namespace like a number, and labels like everything else': {
    ...{ namespace: '123', values: 'ci/monitoring-values.yaml' },
    set: {
      commonLabels: { a: '1e3', b: 'on', c: '0x10', d: '', e: '2020-01-01', f: 'null', 'example.com/g': '1_000' },
      'pod.labels': { a: '0o7', h: '' },
      'jobs.pod.labels': { a: 'no' },
      'serviceMonitor.labels': { a: '1.10', b: 'off' },
      'dashboards.labels': { a: '0.5' },
    },
  },
  'a release like nothing in a namespace like a truth, and large numbers': {
    ...{ release: 'null', namespace: 'off', values: 'ci/keda-values.yaml' },
    set: {
      'gateway.autoscaling': { minReplicas: 1, maxReplicas: 1_500_000, connectionsPerPod: 2_000_000 },
      'tasks.autoscaling.pendingChangesPerPod': 12_345_678,
      'auth.autoscaling.cpuUtilization': 1_000_000,
      'backup.settings.BACKUP_MAX_ARCHIVE_MB': 131_071,
      'backup.scratchSize': '2Ti',
      'gateway.settings.GRAPHQL_MAX_COST': 1_000_000_000,
      'pod.stopSeconds': 2_000_000,
      'migrations.timeoutSeconds': 3_000_000,
      'preflight.timeoutSeconds': 4_000_000,
    },
  },
  'annotations and variables of any text, and nodes, images, volumes and topics like numbers': {
    set: {
      commonAnnotations: {
        ...{ a: 'yes', b: '{"c": [1]}', d: 'two\nlines', e: '# none', f: ': colon', g: '*star', h: `'"`, i: '' },
        ...{ j: '{{ .Values }}', k: '0440', l: '- list', m: ' blank ', n: '12:30:45', 'example.com/o': '~' },
      },
      'gateway.service.annotations': { a: '1' },
      'serviceAccount.annotations': { a: 'null' },
      'pod.nodeSelector': { pool: '1', spot: 'true' },
      'pod.tolerations': [{ key: '1', operator: 'Equal', value: 'true', effect: 'NoExecute', tolerationSeconds: 5 }],
      'pod.priorityClassName': 'yes',
      image: { repository: '123', tag: '1.10', pullSecrets: ['123', 'on'] },
      'gateway.supergraph': { existingConfigMap: '1', key: '2' },
      'pod.extraEnv': [
        ...[{ name: 'A', value: 'true' }, { name: 'B', value: '1e3' }, { name: 'C', value: '' }, { name: 'D' }],
        ...[
          { name: 'E', value: '{{ x }}: "\'#' },
          { name: 'NODE_EXTRA_CA_CERTS', value: '/more/ca.crt' },
        ],
        { name: 'F', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
      ],
      'auth.pod.extraEnv': [{ name: 'TRUSTED_PROXIES', value: '10.0.0.0/8' }],
      'backup.persistence': { storageClassName: '1', size: '10', accessModes: ['ReadWriteMany'] },
      kafka: { brokers: ['1:9092', 'kafka-2.example.com:19092', '[2001:db8::1]:9092'], topicPrefix: '1.' },
    },
  },
  'secrets like numbers': {
    values: 'ci/tls-sasl-values.yaml',
    set: {
      'postgresql.auth': { existingSecret: '123', key: 'on', ca: { existingSecret: '1e3', key: '1' } },
      'postgresql.tasksAdmin': { existingSecret: '0', key: 'null' },
      redis: { existingSecret: 'no', key: '1.0', clientCertificate: { existingSecret: '7', certificateKey: '1' } },
      'kafka.sasl.tasks': { username: '1e3', existingSecret: '8', key: 'off' },
      'kafka.tls.ca': { existingSecret: '9', key: 'y' },
      'auth.smtp': { existingSecret: 'true', key: '1' },
      'keys.accessTokens': { existingSecret: '10', key: '2' },
      'migrations.tasks': { existingSecret: '11', key: '3' },
    },
  },
  'variables and volumes in front of each service': {
    values: 'ci/migrations-init-values.yaml',
    set: {
      'pod.extraEnv': [{ name: 'NODE_EXTRA_CA_CERTS', value: '/more/ca.crt' }],
      'pod.extraVolumes': [{ name: 'auth', configMap: { name: '1' } }],
      'pod.extraVolumeMounts': [{ name: 'auth', mountPath: '/more', readOnly: true }],
    },
  },
  'a route for every host, and amounts in every unit': {
    values: 'ci/hpa-ingress-values.yaml',
    set: {
      httpRoute: {
        enabled: true,
        parentRefs: [
          { name: 'public', namespace: 'on', group: 'gateway.networking.k8s.io', kind: 'Gateway', port: 443 },
        ],
      },
      'gateway.resources': { requests: { cpu: 1, memory: '0.5Gi' }, limits: { cpu: '2', memory: '1.5Gi' } },
      'auth.resources': { requests: { cpu: 0.1, memory: 134_217_728 }, limits: { memory: '500000k' } },
      'tasks.resources': { requests: { cpu: '100m', memory: '256M' }, limits: { memory: '1073741824' } },
      'backup.resources': { requests: { memory: '1Gi' }, limits: { memory: '0.0625Ti' } },
    },
  },
  'hosts with a star, names resolved elsewhere, servers at addresses, stored secrets, traces, alerts and no requests': {
    set: {
      'settings.PUBLIC_URL': 'https://tasks.example.com/',
      httpRoute: { enabled: true, parentRefs: [{ name: '1', namespace: '2' }], hostnames: ['*.example.com'] },
      ingress: { enabled: true, className: 'on', hosts: ['*.example.com', '*.example.org'], tlsSecret: '123' },
      networkPolicy: {
        dns: [{ ipBlock: { cidr: '169.254.20.10/32' } }, { podSelector: {} }],
        dnsPorts: [5353, 1053],
        clients: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
        scrapers: [],
        egress: { kafka: { to: [{ namespaceSelector: {} }], ports: [] }, smtp: { ports: [] } },
      },
      externalSecrets: {
        enabled: true,
        refreshInterval: '1h30m',
        storeRef: { kind: 'SecretStore', name: '1' },
        secrets: { '123': { '1': { key: '1', property: 'on', version: '2' }, on: { key: 'null' } } },
      },
      telemetry: {
        endpoint: 'https://[2001:db8::1]:4318/otlp',
        samplerRatio: 1e-7,
        headers: { existingSecret: '1', key: '2' },
        resourceAttributes: { a: '1', b: '{{ x }}: "\'#' },
      },
      prometheusRule: { enabled: true, labels: { a: '1' }, alertLabels: { team: '1', severity: 'on' } },
      'prometheusRule.runbookUrl': 'https://example.com/#runbooks: ',
      serviceMonitor: { enabled: true, interval: '1m30s' },
      'gateway.resources.requests': {},
      'jobs.resources.requests': {},
    },
  },
  'plain jobs with everything': {
    values: 'ci/migrations-job-values.yaml',
    release: LONGEST,
    set: {
      'pod.annotations': { a: '1' },
      'pod.extraVolumes': [{ name: 'more', emptyDir: {} }],
      'jobs.pod': { annotations: { 'sidecar.istio.io/inject': 'false' }, priorityClassName: '1', affinity: {} },
    },
  },
  'servers of a release like a number': {
    chart: 'taskmesh-data',
    release: '1e3',
    values: 'ci/backups-poolers-values.yaml',
    set: {
      fullnameOverride: `e3${'-x'.repeat(12)}`,
      commonLabels: { a: '1e3', b: 'on' },
      scrapers: [{ namespaceSelector: {} }],
      'postgresql.storageClassName': '1',
      'postgresql.backups': { existingSecret: '1', accessKeyIdKey: '2', secretAccessKeyKey: 'on', endpointUrl: '' },
      'postgresql.parameters': { max_connections: '100', work_mem: '4MB', jit: 'off' },
      kafka: { storageClassName: '2', topicPrefix: '1.', retentionHours: 1_000_000, size: '10' },
      valkey: { existingSecret: '1', passwordKey: '2', tlsSecret: '3', maxMemory: '1mb' },
    },
  },
  'no Kafka, and a longer name': {
    chart: 'taskmesh-data',
    release: 'a'.repeat(40),
    set: { 'kafka.enabled': false, 'valkey.enabled': false },
  },
  'settings of any text, while everybody may be away': {
    set: {
      'gateway.settings.CORS_ORIGINS': 'http://[::1]:3000',
      'gateway.settings': { TRUSTED_PROXIES: '::1,\n10.0.0.0/8\n', REALTIME_ANON_KEY: 'on' },
      'auth.settings.MAIL_FROM': `"O'Neil: #1" <a@example.com>`,
      'auth.smtp.existingSecret': 'smtp',
      'backup.settings': {
        ...{
          BACKUP_SCHEDULE: '*/5 * * * *\n',
          BACKUP_VERIFY_SCHEDULE: '1 1 1 1 1',
          BACKUP_KEEP: '\nlast=3,\n yearly = 02,\n',
        },
        ...{ BACKUP_MAIL_TO: "o'neil@example.com,\n b@example.com,\n", RESTORE_KEEP_OLD: '0' },
      },
      'gateway.trustedDocuments': { mode: 'only', existingConfigMap: '1', key: 'on' },
      'settings.RATE_LIMIT_FACTOR': '0.5',
      'pod.maxUnavailable': '100%',
      'tasks.pod.maxUnavailable': '5',
    },
  },
};

/** Every values file of both charts, by its chart and name. */
export const SHIPPED: [name: string, options: RenderOptions][] = CHART_NAMES.flatMap((chart) =>
  valuesFiles(chart).map((values): [string, RenderOptions] => [`${chart} with ${values}`, { chart, values }]),
);
export const SHIPPED_AND_ODD = [...Object.entries(ODD_VALUES), ...SHIPPED];
