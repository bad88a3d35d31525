import { areNodesFaked, newNamespace, removeNamespaces } from './kubectl.ts';
import { CLIENT, createRelease, PREFIX, smallCluster, type Release } from './release.ts';
import { useServers } from './servers.ts';
import { openWayIn, type WayIn } from './way-in.ts';

/** For what is not there on nodes that run nothing. */
export const describeReal = (await areNodesFaked()) ? describe.skip : describe;

export interface Installation {
  namespace: string;
  release: Release;
  /** To its gateway. */
  way: WayIn;
}

/** The product in a namespace of its own for the tests of one file: installed before them and gone after them. */
export function installationForTests(...values: object[]): () => Installation {
  let namespace: string;
  let release: Release;
  let way: WayIn;

  beforeAll(async () => {
    namespace = await newNamespace();
    release = createRelease({ namespace, values: [smallCluster, await useServers(namespace), ...values] });
    await release.change('install');
    way = await openWayIn({ namespace, service: `${PREFIX}-gateway`, labels: CLIENT });
  }, 600_000);
  afterAll(async () => {
    await way?.close();
    await removeNamespaces();
    release?.forget();
  }, 180_000);

  return () => ({ namespace, release, way });
}
