import { render } from './support/helm.ts';
import { isSelected, policiesOf, portsOf, type Manifest } from './support/manifest.ts';
import { named } from './containers.ts';

const isPod = (name: string) => ({
  'app.kubernetes.io/name': 'taskmesh',
  'app.kubernetes.io/instance': 'shop',
  'app.kubernetes.io/component': name,
});

/** The components that a component's policies let in or out at our own ports. */
function neighbours(manifests: Manifest[], component: string, direction: 'ingress' | 'egress'): string[] {
  const label = 'app.kubernetes.io/component';
  const own = policiesOf(manifests).filter(({ metadata }) => metadata.labels?.[label] === component);
  const rules = own.flatMap(({ spec }) => spec?.[direction] ?? []);
  const peers = rules.flatMap(({ from = [], to = [] }) => (direction === 'ingress' ? from : to));
  return peers.flatMap(({ podSelector }) => podSelector?.matchLabels?.[label] ?? []).toSorted();
}

const egressOf = (manifests: Manifest[], policy: string) =>
  (named(manifests, 'NetworkPolicy', policy)?.spec?.egress ?? []).flatMap(portsOf);

/** The ports that a policy opens outwards with these values, but not without them. */
async function portsOpenedBy(set: object, policy: string, others: object = {}) {
  const before = egressOf(await render({ set: { ...others } }), policy);
  return egressOf(await render({ set: { ...others, ...set } }), policy).filter((port) => !before.includes(port));
}

const ALL_IN_ONE = { mode: 'allInOne', 'keys.backupToken.existingSecret': 'token' };

describe('who talks to whom', () => {
  it('follows the architecture, and nothing more', async () => {
    const manifests = await render();
    const names = ['gateway', 'auth', 'tasks', 'backup', 'migrate', 'keys', 'preflight', 'test'];
    const waysOf = (name: string) => ({
      in: neighbours(manifests, name, 'ingress'),
      out: neighbours(manifests, name, 'egress'),
    });
    expect(Object.fromEntries(names.map((name) => [name, waysOf(name)]))).toEqual({
      gateway: { in: [], out: ['auth', 'backup', 'tasks'] },
      auth: { in: ['backup', 'gateway', 'tasks', 'test'], out: [] },
      tasks: { in: ['backup', 'gateway', 'test'], out: ['auth'] },
      backup: { in: ['gateway', 'test'], out: ['auth', 'tasks'] },
      migrate: { in: [], out: [] },
      keys: { in: [], out: [] },
      preflight: { in: [], out: [] },
      test: { in: [], out: ['auth', 'backup', 'gateway', 'tasks'] },
    });
  });

  it.each([
    { component: 'gateway', ports: [53, 53, 6379, 9092, 9093, 'http'] },
    { component: 'auth', ports: [53, 53, 5432, 6379] },
    { component: 'tasks', ports: [53, 53, 5432, 9092, 9093, 'http'] },
    { component: 'backup', ports: [53, 53, 5432, 'http'] },
    { component: 'migrate', ports: [53, 53, 5432] },
    { component: 'keys', ports: [443, 53, 53, 6443] },
  ])('$component leaves at its own servers’ ports', async ({ component, ports }) => {
    const selects = ({ spec }: Manifest) => isSelected(spec?.podSelector ?? {}, isPod(component));
    const policies = policiesOf(await render()).filter(selects);
    const out = policies.flatMap(({ spec }) => spec?.egress ?? []).flatMap(portsOf);
    const own = component === 'migrate' || component === 'keys' ? out.slice(2) : out; // DNS is said for all, and for jobs again
    expect(own.map(String).toSorted()).toEqual(ports.map(String).toSorted());
  });

  const issuer = (url: string) => ({ 'auth.settings.OIDC_ISSUER': url, 'auth.settings.OIDC_CLIENT_ID': 'tasks' });
  const mails = { 'auth.smtp.existingSecret': 'smtp' };
  it.each<[component: string, set: Record<string, unknown>, ports: number[]]>([
    ['backup', { 'backup.s3.existingSecret': 'bucket' }, [443]],
    ['backup', { 'backup.webhook.existingSecret': 'chat' }, [443]],
    ...['gateway', 'auth', 'tasks', 'backup', 'all'].flatMap(
      (component): [string, Record<string, unknown>, number[]][] => [
        [component, { 'telemetry.endpoint': 'http://otel.monitoring:4318' }, [4318]],
        [component, { 'telemetry.endpoint': 'http://otel.monitoring' }, [80]],
        [component, { 'telemetry.endpoint': 'https://otel.example.com/otlp' }, [443]],
        [component, { 'telemetry.endpoint': 'http://otel:4318', 'networkPolicy.egress.otlp.ports': [7777] }, [7777]],
      ],
    ),
    ['preflight', { 'telemetry.endpoint': 'http://otel.monitoring:4318' }, []],
    ['backup', { ...mails, 'backup.settings.BACKUP_MAIL_TO': 'ops@example.com' }, [25, 465, 587]],
    ...['auth', 'all'].flatMap((component): [string, Record<string, unknown>, number[]][] => [
      [component, issuer('https://login.example.com'), [443]],
      [component, issuer('https://login.example.com:8443/realms/shop'), [443, 8443]],
      [component, mails, [25, 465, 587]],
    ]),
  ])('%s reaches what it is set to use, and only then: %j', async (component, set, ports) => {
    const mode = component === 'all' ? ALL_IN_ONE : {};
    expect(await portsOpenedBy(set, `shop-taskmesh-${component}`, mode)).toEqual(ports);
  });

  it.each(['gateway', 'tasks'])('%s reaches brokers at the ports that they are said to have', async (name) => {
    const set = { 'kafka.brokers': ['kafka-0:9094', '[fd00::1]:19094'] };
    const ports = egressOf(await render({ set }), `shop-taskmesh-${name}`);
    expect(ports).toEqual(expect.arrayContaining([9092, 9093, 9094, 19094]));
  });

  it('clients that are named are let in, and the tests of the release', async () => {
    const manifests = await render({ values: 'ci/gateway-api-values.yaml' });
    const [, clients] = named(manifests, 'NetworkPolicy', 'shop-taskmesh-gateway')?.spec?.ingress ?? [];
    const admitted = clients?.from?.map((peer) => (peer.namespaceSelector ?? peer.podSelector)?.matchLabels);
    expect(admitted).toEqual([{ 'kubernetes.io/metadata.name': 'gateways' }, isPod('test')]);
  });

  it.each([{}, ALL_IN_ONE])('no test is let in when there are none: %j', async (mode) => {
    const set = { ...mode, 'tests.enabled': false, 'networkPolicy.clients': [{ ipBlock: { cidr: '10.0.0.0/8' } }] };
    const rules = policiesOf(await render({ set })).flatMap(({ spec }) => spec?.ingress ?? []);
    expect(rules.length).toBeGreaterThan(0);
    expect(JSON.stringify(rules)).not.toContain('"app.kubernetes.io/component":"test"');
    for (const { from } of rules) expect(from).not.toHaveLength(0); // none would be all
  });

  it('peers that are named for a server narrow the way to it', async () => {
    const manifests = await render({ values: 'ci/everything-set-values.yaml' });
    const rules = policiesOf(manifests).flatMap(({ spec }) => spec?.egress ?? []);
    const toPostgres = rules.filter((rule) => portsOf(rule).includes(5432));
    expect(toPostgres.length).toBeGreaterThan(3);
    for (const rule of toPostgres)
      expect(rule).toMatchObject({ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{}, { port: 6432 }] });
  });

  it('names are resolved where, and at which ports, it is said, by every pod', async () => {
    const dns = [{ ipBlock: { cidr: '169.254.20.10/32' } }];
    const set = { 'networkPolicy.dns': dns, 'networkPolicy.dnsPorts': [5353, 1053] };
    const all = policiesOf(await render({ set })).flatMap(({ spec }) => spec?.egress ?? []);
    const rules = all.filter((rule) => rule.ports?.some(({ protocol }) => protocol === 'UDP'));
    expect(rules).toHaveLength(5); // all pods, and each kind of job again
    const ports = [5353, 1053].flatMap((port) => ['UDP', 'TCP'].map((protocol) => ({ protocol, port })));
    for (const rule of rules) expect(rule).toEqual({ to: dns, ports });
  });

  it('can be left open', async () => expect(policiesOf(await render({ values: 'ci/bare-values.yaml' }))).toEqual([]));
});
