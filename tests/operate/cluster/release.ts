import { CHARTS } from '@taskmesh/charts/generated';
import { runHelm, type HelmVersion } from '@taskmesh/charts/helm';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY } from './images.ts';
import { kubectl } from './kubectl.ts';

export const CHART = join(CHARTS, 'taskmesh');
/** The release's name, and how the names of its objects begin. */
export const RELEASE = 'shop';
export const PREFIX = `${RELEASE}-taskmesh`;

/** Pods with these labels may call the gateway, and look at admin ports. */
export const CLIENT = { 'taskmesh.test/role': 'client' };
export const SCRAPER = { 'taskmesh.test/role': 'scraper' };

/** For a cluster that may be one small node; what a client may do at most is not what is tried here. */
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

export interface Release {
  namespace: string;
  /** `install` or `upgrade`, and waits until it is done. @throws Error with what Helm says */
  change(verb: 'install' | 'upgrade', ...args: string[]): Promise<string>;
  helm(...args: string[]): Promise<string>;
  /** Removes what was made for it on this machine. */
  forget(): void;
}

/** A release of the application's chart, with values that every change takes. */
export function createRelease(options: { namespace: string; values?: object[]; helm?: HelmVersion }): Release {
  const { namespace, values = [], helm: version = 4 } = options;
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-values-'));
  const files = values.flatMap((each, index) => {
    const file = join(dir, `${index}.json`);
    writeFileSync(file, JSON.stringify(each));
    return ['--values', file];
  });
  const helm = (...args: string[]) => runHelm([...args, '--namespace', namespace], version);
  return {
    namespace,
    helm,
    change: (verb, ...args) => helm(verb, RELEASE, CHART, ...files, '--wait', '--timeout', '5m', ...args),
    forget: () => rmSync(dir, { recursive: true }),
  };
}

/** What operators show: made by the chart's hook. */
export async function backupToken(namespace: string): Promise<string> {
  const path = ['-o', 'jsonpath={.data.backup-token}'];
  return Buffer.from(await kubectl(['get', 'secret', '-n', namespace, `${PREFIX}-keys`, ...path]), 'base64').toString();
}
