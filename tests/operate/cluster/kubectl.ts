import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** @returns its standard output. @throws Error with its error output, and `stdout` */
export async function kubectl(args: string[], input?: string): Promise<string> {
  const running = run('kubectl', args, { maxBuffer: MAX_OUTPUT_BYTES });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

export const create = (object: object) => kubectl(['create', '-f', '-'], JSON.stringify(object));

/** Returns what a JSONPath finds in each object of a kind. */
export async function list(kind: string, namespace: string, path: string, ...more: string[]): Promise<string[]> {
  const template = `jsonpath={range .items[*]}{${path}}{"\\n"}{end}`;
  const text = await kubectl(['get', kind, '-n', namespace, '-o', template, ...more]);
  return text.split('\n').filter((line) => line !== '');
}

/** Returns the names of a component's pods that are not being deleted. */
export async function podsOf(namespace: string, component: string): Promise<string[]> {
  const select = ['-l', `app.kubernetes.io/component=${component}`];
  const rows = await list('pods', namespace, '.metadata.name}={.metadata.deletionTimestamp', ...select);
  return rows.flatMap((row) => (row.endsWith('=') ? [row.slice(0, -1)] : []));
}

/** Runs JavaScript in a pod of the product's image, which has no shell. */
export const runIn = (namespace: string, pod: string, script: string, ...args: string[]) =>
  kubectl(['exec', '-n', namespace, pod, '--', 'node', '-e', script, ...args]);

/** Whether the nodes are fake (kwok): their pods are ready at once, but run nothing. */
export async function areNodesFaked(): Promise<boolean> {
  const versions = await list('nodes', 'default', '.status.nodeInfo.kubeletVersion');
  return versions.some((version) => version.includes('kwok'));
}

const namespaces: string[] = [];

/** Creates a namespace that enforces the restricted pod security standard. */
export async function newNamespace(): Promise<string> {
  const name = `taskmesh-test-${randomBytes(4).toString('hex')}`;
  const modes = ['enforce', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']);
  const labels = Object.fromEntries(modes) as object;
  await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  namespaces.push(name);
  return name;
}

/** Call this after the tests of a file. */
export const removeNamespaces = () =>
  Promise.all(namespaces.splice(0).map((name) => kubectl(['delete', 'namespace', name, '--wait=false'])));
