import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** @returns what it prints. @throws Error with what it complains about, and `stdout` */
export async function kubectl(args: string[], input?: string): Promise<string> {
  const running = run('kubectl', args, { maxBuffer: MAX_OUTPUT_BYTES });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

export const create = (object: object) => kubectl(['create', '-f', '-'], JSON.stringify(object));

/** Of each object of a kind, what a JSONPath finds. */
export async function list(kind: string, namespace: string, path: string, ...more: string[]): Promise<string[]> {
  const template = `jsonpath={range .items[*]}{${path}}{"\\n"}{end}`;
  const text = await kubectl(['get', kind, '-n', namespace, '-o', template, ...more]);
  return text.split('\n').filter((line) => line !== '');
}

/** Names of a component's pods that are not about to go. */
export async function podsOf(namespace: string, component: string): Promise<string[]> {
  const rows = await list(
    'pods',
    namespace,
    '.metadata.name}={.metadata.deletionTimestamp',
    ...['-l', `app.kubernetes.io/component=${component}`],
  );
  return rows.flatMap((row) => (row.endsWith('=') ? [row.slice(0, -1)] : []));
}

/** Runs JavaScript in a pod of the product's image, which has no shell. */
export const runIn = (namespace: string, pod: string, script: string, ...args: string[]) =>
  kubectl(['exec', '-n', namespace, pod, '--', 'node', '-e', script, ...args]);

/** Whether nodes are faked: pods are ready at once, and nothing runs in them. */
export async function areNodesFaked(): Promise<boolean> {
  return (await list('nodes', 'default', '.status.nodeInfo.kubeletVersion')).some((version) =>
    version.includes('kwok'),
  );
}

const namespaces: string[] = [];

/** A namespace that takes no pod beyond a standard of pod security. */
export async function newNamespace(standard: 'restricted' | 'privileged' = 'restricted'): Promise<string> {
  const name = `taskmesh-test-${randomBytes(4).toString('hex')}`;
  const labels = {
    'pod-security.kubernetes.io/enforce': standard,
    'pod-security.kubernetes.io/warn': standard,
  };
  await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  namespaces.push(name);
  return name;
}

/** To be called when a file's tests are over. */
export const removeNamespaces = () =>
  Promise.all(namespaces.splice(0).map((name) => kubectl(['delete', 'namespace', name, '--wait=false'])));
