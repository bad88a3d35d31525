import { spawnSync } from 'node:child_process';

const [part = 'charts', ...args] = process.argv.slice(2);
const isCluster = part === 'cluster';
if (isCluster && !process.env.KUBECONFIG) {
  console.error('KUBECONFIG is needed: the cluster to install the charts in, in namespaces of their own.');
  process.exit(2);
}
const tests = isCluster ? '.cluster.test.ts' : '.test.ts';
const testMatch = `<rootDir>/{charts,deploy/kubernetes,tests/operate/cluster}/**/*${tests}`;
const jest = ['node_modules/jest/bin/jest.js', '--testMatch', testMatch, '--config', 'tools/jest.config.mjs'];
const { status } = spawnSync(
  process.execPath,
  [
    ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', ...jest],
    ...(isCluster ? ['--maxWorkers=1'] : []), // they share servers and a node
    ...args,
  ],
  { stdio: 'inherit', env: { ...process.env, [isCluster ? 'TASKMESH_CLUSTER' : 'TASKMESH_LONG']: '1' } },
);
if (isCluster) spawnSync('kubectl', ['delete', 'namespace', 'taskmesh-test-servers', '--ignore-not-found']);
process.exit(status ?? 1);
