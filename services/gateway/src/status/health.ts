import { askInTime } from '@taskmesh/service';
import type { Connections } from '../connections/connections.ts';
import type { LiveGraph } from '../supergraph/graph.ts';

const CHECK_EVERY_MS = 1_000;
const MAX_WAIT_MS = 2_000;

/** The services that do not answer, or do not reach their store. Asked at most once a second, however many want it. */
export function createHealth({ graph, connections }: { graph: LiveGraph; connections: Connections }) {
  const { probe, status } = connections;
  const ask = new Map<string, () => Promise<boolean | undefined>>();
  for (const [name, service] of Object.entries(status))
    ask.set(
      name,
      askInTime(MAX_WAIT_MS, async () => (await service.status()).store?.isUp ?? true),
    );

  const isWell = async (name: string, url: string | undefined): Promise<boolean> => {
    if (url === undefined) return (await ask.get(name)?.()) ?? false;
    return (await askInTime(MAX_WAIT_MS, () => probe(name, url).then(() => true))()) ?? false;
  };
  const check = async (): Promise<string[]> => {
    const services = graph.current.supergraph.services;
    const answers = await Promise.all(services.map(({ name, url, own }) => isWell(name, own ? undefined : url)));
    return services.flatMap(({ name }, index) => (answers[index] ? [] : [name])).sort();
  };

  let checkedAtMs = -Infinity;
  let latest: Promise<string[]> = Promise.resolve([]);
  return (): Promise<string[]> => {
    if (performance.now() - checkedAtMs >= CHECK_EVERY_MS) {
      checkedAtMs = performance.now();
      latest = check();
    }
    return latest;
  };
}
