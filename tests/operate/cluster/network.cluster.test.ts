import { render } from '@taskmesh/charts/helm';
import { eventually } from '@taskmesh/testing';
import { describeReal } from './installation.ts';
import { create, kubectl, list, newNamespace, podsOf, removeNamespaces, runIn } from './kubectl.ts';
import { pod } from './pods.ts';
import { CLIENT, createRelease, PREFIX, RELEASE, SCRAPER, smallCluster, type Release } from './release.ts';
import { SERVERS, useServers } from './servers.ts';

/** Prints which of these addresses can be reached. A policy that denies a connection drops it silently. */
const REACH = `
  const net = require('node:net');
  const reach = (target) => new Promise((resolve) => {
    const [host, port] = target.split(':');
    const socket = net.connect({ host, port }, () => end(true));
    const end = (reached) => { socket.destroy(); clearTimeout(timer); resolve([target, reached]); };
    const timer = setTimeout(end, 2_000, false);
    socket.on('error', (error) => end(error.code === 'ECONNREFUSED'));
  });
  Promise.all(process.argv.slice(1).map(reach)).then((all) => console.log(JSON.stringify(Object.fromEntries(all))));`;
const SERVICES = ['gateway', 'auth', 'tasks', 'backup'] as const;
const JOBS = ['keys', 'preflight', 'migrate', 'test'] as const;

const at = {
  ...{ gateway: `${PREFIX}-gateway:80`, auth: `${PREFIX}-auth:4000`, tasks: `${PREFIX}-tasks:4000` },
  ...{
    backup: `${PREFIX}-backup:4000`,
    postgresql: `postgresql.${SERVERS}.svc:5432`,
    redis: `redis.${SERVERS}.svc:6379`,
  },
  ...{ kafka: `kafka.${SERVERS}.svc:9092`, apiServer: 'kubernetes.default.svc:443' },
  ...Object.fromEntries(SERVICES.map((name) => [`${name}-admin`, `${PREFIX}-${name}-admin:14000`])),
} as Record<string, string>;

/** Allowed connections; all others are denied. */
const ALLOWED: Record<string, string[]> = {
  gateway: ['auth', 'tasks', 'backup', 'redis', 'kafka'],
  auth: ['postgresql', 'redis'],
  tasks: ['auth', 'postgresql', 'kafka'],
  backup: ['auth', 'tasks', 'postgresql'],
  keys: ['apiServer'],
  preflight: ['postgresql', 'redis', 'kafka'],
  migrate: ['postgresql'],
  test: ['gateway', 'auth', 'tasks', 'backup'],
  client: ['gateway'],
  scraper: SERVICES.map((name) => `${name}-admin`),
  stranger: [],
};
/** Pods outside of the chart are limited only by its ingress rules, so only these targets are tested. */
const INSIDE = [...SERVICES, ...SERVICES.map((name) => `${name}-admin`)];

describeReal('the network policies (not on nodes that run nothing)', () => {
  let release: Release;

  beforeAll(async () => {
    const namespace = await newNamespace();
    const values = await useServers(namespace);
    release = createRelease(namespace, [smallCluster, values]);
    await release.change('install');
    // The policies of jobs exist only as long as the jobs, so they are created again for permanent pods.
    const set = values as Record<string, unknown>;
    const policies = (await render({ namespace, release: RELEASE, set })).filter(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && JOBS.some((job) => metadata.name === `${PREFIX}-${job}`),
    );
    expect(policies).toHaveLength(JOBS.length);
    for (const policy of policies) await create(policy);
    const labelled = (component: string) => ({
      'app.kubernetes.io/name': 'taskmesh',
      'app.kubernetes.io/instance': RELEASE,
      'app.kubernetes.io/component': component,
    });
    const labels = {
      ...Object.fromEntries(JOBS.map((job) => [job, labelled(job)])),
      ...{ client: CLIENT, scraper: SCRAPER, stranger: {} },
    };
    for (const [name, own] of Object.entries(labels)) await create(pod({ name, namespace, labels: own }));
    await kubectl(['wait', '-n', namespace, 'pod', '--all', '--for=condition=Ready', '--timeout=180s']);
  }, 600_000);
  afterAll(removeNamespaces, 180_000);

  const addressesBeside = async (component: string, name: string) => {
    const select = ['-l', `app.kubernetes.io/component=${component}`];
    const rows = await list('pods', release.namespace, '.metadata.name}={.status.podIP', ...select);
    const others = rows.filter((row) => !row.startsWith(`${name}=`)).map((row) => row.split('=')[1]);
    return others.flatMap((address) => [`${address}:4000`, `${address}:14000`]);
  };

  it.each(Object.entries(ALLOWED))('let %s connect to %j, and to nothing else', async (from, allowed) => {
    const { namespace } = release;
    const isService = (SERVICES as readonly string[]).includes(from);
    const name = isService ? ((await podsOf(namespace, from))[0] ?? '') : from;
    const isOurs = isService || (JOBS as readonly string[]).includes(from);
    // A pod always reaches itself, so its own component is tested with the addresses of its other pods.
    const names = (isOurs ? Object.keys(at) : INSIDE).filter((target) => target !== from && target !== `${from}-admin`);
    const expected = {
      ...Object.fromEntries(names.map((target) => [at[target] ?? '', allowed.includes(target)])),
      ...(isService && Object.fromEntries((await addressesBeside(from, name)).map((address) => [address, false]))),
    };
    await eventually(
      async () => expect(JSON.parse(await runIn(namespace, name, REACH, ...Object.keys(expected)))).toEqual(expected),
      { timeoutMs: 20_000, everyMs: 500 }, // the rules of a new pod take a moment
    );
  });

  it('cover every pod', async () => {
    const policies = await list('networkpolicies', release.namespace, '.metadata.name');
    expect(policies).toEqual(expect.arrayContaining(['default', ...SERVICES].map((name) => `${PREFIX}-${name}`)));
  });
});
