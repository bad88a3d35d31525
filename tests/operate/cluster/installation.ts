import { areNodesFaked, newNamespace, removeNamespaces } from './kubectl.ts';
import { CLIENT, createRelease, PREFIX, smallCluster, type Release } from './release.ts';
import { useServers } from './servers.ts';
import { openWayIn } from './way-in.ts';

/** `describe` for tests that need real nodes; skips them on fake ones. */
export const describeReal = (await areNodesFaked()) ? describe.skip : describe;

/**
 * Installs the product in a namespace of its own for the tests of one file, and removes it afterwards. `way`: the relay to its gateway,
 * with a local URL.
 */
export function installationForTests(...values: object[]) {
  let namespace: string;
  let release: Release;
  let way: Awaited<ReturnType<typeof openWayIn>>;

  beforeAll(async () => {
    namespace = await newNamespace();
    release = createRelease(namespace, [smallCluster, await useServers(namespace), ...values]);
    await release.change('install');
    way = await openWayIn(namespace, `${PREFIX}-gateway`, CLIENT);
  }, 600_000);
  afterAll(async () => {
    await way?.close();
    await removeNamespaces();
  }, 180_000);

  return () => ({ namespace, release, way });
}
