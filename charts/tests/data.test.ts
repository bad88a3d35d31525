import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { makeTempDir } from '@taskmesh/testing';
import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { CHARTS } from '../tools/generated.ts';
import { render, renderText, valuesFiles } from './support/helm.ts';
import { containersOf, KEPT, ofKind, policiesOf, portsOf, workloads, type Manifest } from './support/manifest.ts';

const chart = 'taskmesh-data';
const release = 'taskmesh-data';
const namesOf = (manifests: Manifest[], kind: string) => ofKind(manifests, kind).map(({ metadata }) => metadata.name);

describe('the servers by operators', () => {
  it('are a cluster for each store, whose owner may restore it', async () => {
    const clusters = ofKind(await render({ chart, release }), 'Cluster');
    const found = clusters.map(({ metadata, spec }) => [metadata.name, spec?.bootstrap, spec?.managed]);
    const of = (name: string, managed?: object) => {
      return [`${release}-${name}`, { initdb: expect.objectContaining({ database: name, owner: name }) }, managed];
    };
    const withRole = (name: string) =>
      of(name, { roles: [{ name, ensure: 'present', login: true, createdb: true, createrole: true }] });
    expect(found).toEqual([withRole('auth'), withRole('tasks'), of('backup')]);
  });

  it('allow the application to read and write its topic, and nothing else', async () => {
    const manifests = await render({ chart, release });
    const topic = { topicName: TASK_CHANGES_TOPIC, partitions: 8, replicas: 3 };
    expect(ofKind(manifests, 'KafkaTopic')).toMatchObject([{ spec: topic }]);
    const may = (user: string, operations: string[]) => ({
      metadata: { name: `taskmesh-data-kafka-${user}` },
      spec: { authorization: { acls: [{ resource: { name: TASK_CHANGES_TOPIC }, operations }] } },
    });
    expect(ofKind(manifests, 'KafkaUser')).toMatchObject([
      may('gateway', ['Read', 'Describe']),
      may('tasks', ['Write', 'Describe', 'Create']),
    ]);
    const [kafka] = ofKind(manifests, 'Kafka');
    expect(kafka?.spec?.kafka).toMatchObject({
      authorization: { type: 'simple' },
      config: { 'auto.create.topics.enable': false, 'min.insync.replicas': 2 },
      listeners: [{ port: 9093, tls: true, authentication: { type: 'scram-sha-512' } }],
    });
  });

  it.each([
    [8, 5],
    [8, 100],
    [50, 20_000],
  ])('keep no more in %i partitions than half of a disk of %i Gi', async (partitions, size) => {
    const set = { 'kafka.partitions': partitions, 'kafka.size': `${size}Gi` };
    const topics = ofKind(await render({ chart, release, set }), 'KafkaTopic').map(({ spec }) => {
      const config = spec?.config as Record<'retention.bytes' | 'segment.bytes', number>;
      expect(config['segment.bytes']).toBeLessThanOrEqual(2 ** 30);
      // Whole segments are deleted, as soon as the others are large enough.
      return Number(spec?.partitions) * (config['retention.bytes'] + config['segment.bytes']);
    });
    const share = topics.reduce((sum, bytes) => sum + bytes, 0) / (size * 2 ** 30);
    expect([share > 0.49, share <= 0.5]).toEqual([true, true]);
  });

  it('are archived by the plugin, and can begin at a moment of the past', async () => {
    const archived = await render({ chart, release, values: 'ci/backups-poolers-values.yaml' });
    expect(ofKind(archived, 'ScheduledBackup')).toHaveLength(3);
    expect(namesOf(archived, 'ObjectStore')).toEqual([release]);
    for (const { spec } of ofKind(archived, 'Pooler'))
      expect(spec?.pgbouncer).toMatchObject({ poolMode: 'session', parameters: { server_login_retry: '1' } });
    const again = await render({ chart, release: 'again', values: 'ci/recovery-values.yaml' });
    const of = (name: string) => ({ serverName: expect.stringMatching(`^${name}-`) });
    for (const { spec } of ofKind(again, 'Cluster'))
      expect(spec).toMatchObject({
        bootstrap: { recovery: { source: 'origin', recoveryTarget: { targetTime: '2026-05-01T10:00:00Z' } } },
        externalClusters: [{ name: 'origin', plugin: { parameters: of('taskmesh-data') } }],
        plugins: [{ isWALArchiver: true, parameters: of('again') }],
      });
  });

  it('survive the removal of the release', async () => {
    const manifests = await render({ chart, release, values: 'ci/backups-poolers-values.yaml' });
    const kinds = 'Cluster Kafka KafkaNodePool KafkaTopic ObjectStore ScheduledBackup NetworkPolicy'.split(' ');
    const keepsNothing = ({ metadata }: Manifest) => metadata.name.endsWith('-valkey');
    const lasting = manifests.filter((each) => kinds.includes(each.kind) && !keepsNothing(each));
    expect(lasting.length).toBe(13);
    for (const { metadata } of lasting) expect(metadata.annotations).toMatchObject(KEPT);
    const small = await render({ chart, release, values: 'ci/small-values.yaml' });
    expect(small.filter(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'])).toEqual([]);
    const deletesClaims = async (values?: string) =>
      (await renderText({ chart, release, values })).match(/deleteClaim: (true|false)/)?.[1];
    expect([await deletesClaims(), await deletesClaims('ci/small-values.yaml')]).toEqual(['false', 'true']);
  });

  it('are spread over nodes, also where there is one zone only', async () => {
    const manifests = await render({ chart, release });
    const over = (topologyKey: string, matchLabels: object) => ({ topologyKey, labelSelector: { matchLabels } });
    for (const { metadata, spec } of ofKind(manifests, 'Cluster')) {
      const instances = { 'cnpg.io/cluster': metadata.name, 'cnpg.io/podRole': 'instance' };
      expect(spec?.topologySpreadConstraints).toMatchObject([over('kubernetes.io/hostname', instances)]);
    }
    const [pool] = ofKind(manifests, 'KafkaNodePool');
    const brokers = { 'strimzi.io/pool-name': pool?.metadata.name };
    const keys = ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'];
    const topologySpreadConstraints = keys.map((key) => over(key, brokers));
    expect(pool?.spec?.template).toMatchObject({ pod: { topologySpreadConstraints } });
  });

  it('are certified under their poolers’ names where there are any', async () => {
    for (const { spec } of ofKind(await render({ chart, release }), 'Cluster'))
      expect(spec).not.toHaveProperty('certificates');
    const pooler = `${release}-tasks-pooler`;
    const manifests = await render({ chart, release, values: 'ci/backups-poolers-values.yaml' });
    const serverAltDNSNames = ['', '.prod', '.prod.svc'].map((domain) => `${pooler}${domain}`);
    expect(ofKind(manifests, 'Cluster')[1]?.spec).toMatchObject({ certificates: { serverAltDNSNames } });
    expect(namesOf(manifests, 'Pooler')).toContain(pooler);
  });

  it('expose their metrics to the configured scrapers only', async () => {
    const scrapers = [{ namespaceSelector: { matchLabels: { team: 'watch' } } }];
    const toFigures = async (set: Record<string, unknown>) => {
      const rules = policiesOf(await render({ chart, release, set })).flatMap(({ spec }) => spec?.ingress ?? []);
      return rules.flatMap((rule) => (portsOf(rule).includes(9187) ? [rule.from] : []));
    };
    expect(await toFigures({})).toEqual([]);
    expect(await toFigures({ scrapers })).toEqual([scrapers, scrapers, scrapers]);
  });

  it.each(['plain', 'two words', `"quoted" 'and' \\back\\slashed`, '$(id) `id` %s #'])(
    'take any line as Valkey’s password: %s',
    async (password) => {
      const [valkey] = workloads(await render({ chart, release }));
      const script = valkey?.template.spec.containers[0]?.args?.[0] ?? '';
      const dir = makeTempDir();
      writeFileSync(join(dir, 'password'), `${password}\nsave 1 1\n`);
      const untilStart = script.slice(0, script.indexOf('exec valkey-server'));
      expect(untilStart).toContain('/etc/valkey/password');
      execFileSync('sh', ['-ec', untilStart.replace(' /tmp/', ` ${dir}/`).replace('/etc/valkey/', `${dir}/`)]);
      expect(readFileSync(join(dir, 'password.conf'), 'utf8')).toBe(`requirepass ${JSON.stringify(password)}\n`);
    },
  );

  it('accept connections of the application and their own operator only', async () => {
    const policies = policiesOf(await render({ chart, release }));
    expect(policies).toHaveLength(4);
    for (const { spec } of policies) {
      expect(spec?.policyTypes).toContain('Ingress');
      for (const { from = [], ports = [] } of spec?.ingress ?? [])
        expect(
          from.length > 0 && (ports.length > 0 || from[0]?.podSelector?.matchLabels?.['cnpg.io/cluster'] !== undefined),
        ).toBe(true);
    }
  });

  it.each(valuesFiles(chart))('run under the restricted pod standard with %s, including Kafka', async (values) => {
    const manifests = await render({ chart, release: 'data', values });
    const confined = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    const ofPod = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
    const ofKafka = { securityContext: { ...confined, ...ofPod } };
    for (const { spec } of ofKind(manifests, 'KafkaNodePool'))
      expect(spec?.template).toMatchObject({ kafkaContainer: ofKafka });
    const template = { topicOperatorContainer: ofKafka, userOperatorContainer: ofKafka };
    for (const { spec } of ofKind(manifests, 'Kafka')) expect(spec?.entityOperator).toMatchObject({ template });
    const pods = workloads(manifests);
    expect(pods).toHaveLength(1);
    for (const { template } of pods) {
      expect(template.spec).toMatchObject({ automountServiceAccountToken: false, securityContext: ofPod });
      for (const { securityContext, image } of containersOf(template)) {
        expect(securityContext).toMatchObject({ ...confined, readOnlyRootFilesystem: true });
        expect(image).toMatch(/:\d+\.\d+\.\d+$/);
      }
    }
  });

  it.each<[Record<string, unknown>, string]>([
    [{ 'postgresql.backups.enabled': true }, 'set postgresql.backups.destinationPath'],
    [{ 'postgresql.recovery.fromRelease': 'old' }, 'set postgresql.backups'],
    [{ 'postgresql.recovery.fromRelease': release }, 'install one with another name'],
    [{ 'postgresql.recovery.targetTime': '2026-05-01T10:00:00Z' }, 'name the release whose archives are read'],
    [{ 'postgresql.backup.instances': 1 }, 'postgresql.backup.instances 1: no commit would ever have so many copies'],
    [{ fullnameOverride: 'a'.repeat(27) }, 'to at most 26 of a-z, 0-9 and -, beginning with a letter'],
    [{ fullnameOverride: 'a'.repeat(41), 'kafka.enabled': false }, 'to at most 40 of a-z, 0-9 and -'],
    [{ fullnameOverride: '2nd' }, 'the objects\' names would begin with "2nd", which the servers cannot have'],
    [{ commonLabels: { 'strimzi.io/cluster': 'x' } }, 'commonLabels has strimzi.io/cluster, which is the chart'],
    [
      { commonLabels: { 'app.kubernetes.io/name': 'x' } },
      'commonLabels has app.kubernetes.io/name, which is the chart',
    ],
    [{ 'kafka.replicas': 2 }, 'of two neither has a majority alone; set 3, or 1'],
    [{ 'kafka.resources.limits.memory': '2Gi' }, 'kafka.resources.requests.memory is 4Gi, above the limit of 2Gi'],
    [{ 'valkey.maxMemory': '320mb' }, 'valkey.maxMemory is 320mb, not below valkey.resources.limits.memory of 320Mi'],
    [{ 'postgresql.backups.schedule': '0 2 * * *' }, 'schedule'],
    [{ 'postgresql.backups.destinationPath': 'bucket/taskmesh' }, 'destinationPath'],
    [{ 'postgresql.recovery.targetTime': '2026-05-01T10:00' }, 'targetTime'],
    [{ 'kafka.topicPrefix': 'my topics' }, 'topicPrefix'],
    [{ 'kafka.topicPrefix': 'a'.repeat(101) }, 'topicPrefix'], // more than the application takes
    [{ 'postgresql.tasks': null }, 'tasks'],
  ])('reject contradictory values: %j', async (set, sentence) => {
    await expect(render({ chart, release, set })).rejects.toThrow(sentence);
  });
});

it('what this chart creates matches what the application expects', async () => {
  const manifests = await render({ chart, release });
  const made = new Set([
    ...namesOf(manifests, 'Cluster').flatMap((name) => [`${name}-app`, `${name}-ca`]),
    ...namesOf(manifests, 'Kafka').map((name) => `${name}-cluster-ca-cert`),
    ...namesOf(manifests, 'KafkaUser'),
    'taskmesh-redis',
  ]);
  const given = parse(readFileSync(join(CHARTS, 'taskmesh/values-with-data.yaml'), 'utf8')) as object;
  expect(new Set(JSON.stringify(given).match(/(?<="existingSecret":")[^"]+/g))).toEqual(made);
  expect(JSON.stringify(given)).toContain(`${namesOf(manifests, 'Kafka')[0]}-kafka-bootstrap:9093`);
  for (const name of namesOf(manifests, 'KafkaUser')) expect(JSON.stringify(given)).toContain(`"username":"${name}"`);
});
