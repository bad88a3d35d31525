import { createRandom, eventually, numberFromEnv } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { underLoad } from '../../faults/campaign.ts';
import { register } from '../../http.ts';
import { IMAGE } from './images.ts';
import { describeReal, installationForTests } from './installation.ts';
import { create, kubectl, list, newNamespace, podsOf, runIn } from './kubectl.ts';
import { IDLE, pod } from './pods.ts';
import { SERVER_PODS, SERVERS } from './servers.ts';

interface Killer {
  /** Kills every process of a pod's containers with SIGKILL, as a node that runs out of memory does. */
  kill(namespace: string, pod: string): Promise<void>;
}

const NAME = 'killer';

/** Finds the processes of a pod by their control group. Spares `pause`, which holds the pod's addresses. */
const KILL = `
  const { readdirSync, readFileSync } = require('node:fs');
  const uid = process.argv[1];
  const spellings = [uid, uid.replaceAll('-', '_')];
  const read = (file) => { try { return readFileSync(file, 'utf8'); } catch { return ''; } };
  const found = readdirSync('/proc').filter((id) => /^\\d+$/.test(id)
    && spellings.some((each) => read('/proc/' + id + '/cgroup').includes('pod' + each))
    && read('/proc/' + id + '/comm').trim() !== 'pause');
  for (const id of found) try { process.kill(Number(id), 'SIGKILL'); } catch {} // some end with others
  console.log(found.length);`;

/** Creates a pod that can see the processes of its node. On a cluster of several nodes, it reaches only its own. */
async function openKiller(namespace: string): Promise<Killer> {
  const spec = { hostPID: true, automountServiceAccountToken: false };
  const container = { securityContext: { runAsUser: 0 } };
  await create(pod({ name: NAME, namespace, labels: {}, image: IMAGE, command: IDLE, spec, container }));
  await kubectl(['wait', '-n', namespace, `pod/${NAME}`, '--for=condition=Ready', '--timeout=120s']);
  return {
    async kill(of, victim) {
      const uid = await kubectl(['get', 'pod', '-n', of, victim, '-o', 'jsonpath={.metadata.uid}']);
      const killed = Number(await runIn(namespace, NAME, KILL, uid));
      if (killed === 0) throw new Error(`${victim} has no process on the node of the tests.`);
    },
  };
}

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_122);
const OWNERS = 3;
/** How long the load runs before, between and after the disruptions. */
const CALM_MS = 3_000;

describeReal('pods that are replaced under load (not on nodes that run nothing)', () => {
  const product = installationForTests();
  let killer: Killer;
  const random = createRandom(SEED);

  beforeAll(async () => {
    killer = await openKiller(await newNamespace('privileged'));
  }, 180_000);

  const isServing = async () =>
    expect(await (await register(product().way.url)).create('served')).toEqual(expect.any(String));

  /** Does `work` under writers and streams of every protocol, and then checks that every promise was kept. */
  const whileUsed = async (name: string, work: () => Promise<void>) => {
    await eventually(isServing, { timeoutMs: 120_000, everyMs: 500 }); // after the disruption of an earlier test
    const names = Array.from({ length: OWNERS }, (_, owner) => `${name}-${owner}-of-${SEED}`);
    const { findings, figures } = await underLoad(
      { urls: [product().way.url], names, random, paceMs: 60 },
      async () => {
        await sleep(CALM_MS);
        await work();
        await sleep(CALM_MS);
      },
    );
    expect(product().way.failures).toEqual([]);
    expect(findings).toEqual([]);
    expect(figures.writes.confirmed).toBeGreaterThan(100);
    return figures;
  };

  it('answer every request and lose no change when a new version replaces them', async () => {
    const pods = ['gateway', 'auth', 'tasks', 'backup'].map((each) => podsOf(product().namespace, each));
    const before = (await Promise.all(pods)).flat();
    const { writes, streams } = await whileUsed('update', async () => {
      await product().release.change('upgrade', '--set', 'pod.annotations.version=another');
      const left = before.map((each) => `pod/${each}`);
      await kubectl(['wait', '-n', product().namespace, ...left, '--for=delete', '--timeout=120s']);
    });
    expect(writes).toMatchObject({ refused: 0, unknown: 0, retried: 0 });
    for (const { resumes } of Object.values(streams)) expect(resumes).toBeGreaterThan(0); // so the streams had to move, too
  }, 600_000);

  const kill = async (namespace: string, pod: string) => {
    const restarts = async () => (await list('pods', namespace, '.metadata.name}={.status.containerStatuses[0].restartCount')).find((row) => row.startsWith(`${pod}=`)); // prettier-ignore
    const before = await restarts();
    await killer.kill(namespace, pod);
    await eventually(async () => expect(await restarts()).not.toBe(before), { timeoutMs: 60_000, everyMs: 200 });
    await kubectl(['wait', '-n', namespace, `pod/${pod}`, '--for=condition=Ready', '--timeout=180s']);
  };

  it.each(['gateway', 'auth', 'tasks', 'backup'])(
    'lose, repeat and reorder nothing when their processes are killed: %s',
    async (component) => {
      await whileUsed(component, async () => {
        for (const pod of await podsOf(product().namespace, component)) {
          await kill(product().namespace, pod);
          await sleep(CALM_MS);
        }
      });
    },
    300_000,
  );

  it.each(SERVER_PODS)(
    'lose, repeat and reorder nothing when a server’s is: %s',
    async (pod) => {
      await whileUsed(pod, () => kill(SERVERS, pod));
    },
    300_000,
  );
});
