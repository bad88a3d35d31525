import { makeTempDir } from '@taskmesh/testing';
import { CHARTS } from '@taskmesh/charts/generated';
import { runHelm, type HelmVersion } from '@taskmesh/charts/helm';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from './images.ts';
import { kubectl } from './kubectl.ts';

export const CHART = join(CHARTS, 'taskmesh');
/** The name of the release, and the prefix of its objects' names. */
export const RELEASE = 'shop';
export const PREFIX = `${RELEASE}-taskmesh`;

/** The labels of pods that may call the gateway, and of those that may call admin ports. */
export const CLIENT = { 'taskmesh.test/role': 'client' };
export const SCRAPER = { 'taskmesh.test/role': 'scraper' };

/** Values for a cluster that may be one small node. Rate limits are off, because they are not tested here. */
export const smallCluster = {
  image: { repository: REPOSITORY },
  settings: { RATE_LIMIT_FACTOR: 0 },
  ...Object.fromEntries(
    ['gateway', 'auth', 'tasks', 'backup'].map((name) => [name, { resources: { requests: { cpu: '50m' } } }]),
  ),
  networkPolicy: {
    clients: [{ podSelector: { matchLabels: CLIENT } }],
    scrapers: [{ podSelector: { matchLabels: SCRAPER } }],
  },
};

export type Release = ReturnType<typeof createRelease>;

/** Creates a release of the application's chart for the tests of a block; every change uses `values`. */
export function createRelease(namespace: string, values: object[], version: HelmVersion = 4) {
  const dir = makeTempDir();
  const files = values.flatMap((each, index) => {
    const file = join(dir, `${index}.json`);
    writeFileSync(file, JSON.stringify(each));
    return ['--values', file];
  });
  const helm = (...args: string[]) => runHelm([...args, '--namespace', namespace], version);
  return {
    namespace,
    helm,
    /** Installs or upgrades the release, and waits until it is ready. @throws Error with Helm's output */
    change: (verb: 'install' | 'upgrade', ...args: string[]) =>
      helm(verb, RELEASE, CHART, ...files, '--wait', '--timeout', '5m', ...args),
  };
}

/** Reads the operators' token, which the chart's hook made. */
export async function backupToken(namespace: string): Promise<string> {
  const path = ['-o', 'jsonpath={.data.backup-token}'];
  return Buffer.from(await kubectl(['get', 'secret', '-n', namespace, `${PREFIX}-keys`, ...path]), 'base64').toString();
}
