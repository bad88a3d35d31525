import { IMAGE } from './images.ts';
import { create, kubectl, runIn } from './kubectl.ts';
import { IDLE, pod } from './pods.ts';

export interface Killer {
  /** `kill -9` of every process of a pod's containers, as a node that runs out of memory does it. */
  kill(namespace: string, pod: string): Promise<void>;
}

const NAME = 'killer';

/** The pod of a process is known by its control group; `pause`, which holds the pod's addresses, is let live. */
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

/** A pod that sees the processes of its node; on a cluster of several nodes it reaches those of its own one only. */
export async function openKiller(namespace: string): Promise<Killer> {
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
