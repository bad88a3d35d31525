import { unavailable } from '@taskmesh/errors';
import type { AuthInternal, BackupWork, TasksInternal } from '@taskmesh/internal-api';
import type { Subgraph } from '@taskmesh/subgraph';
import { createOutsideClient } from './outside-client.ts';
import type { Connections } from './connections.ts';

/** The services of this process. Who made them stops them. */
export interface InProcessServices {
  auth: { subgraph: Subgraph; internal: AuthInternal };
  tasks: { subgraph: Subgraph; internal: TasksInternal };
  backup: { subgraph: Subgraph; work: BackupWork };
}

/**
 * Plain calls in one process. Each call has a context of its own, identities go along as they are, and nothing is
 * serialised: `execute` builds a new result for every call, so the gateway may merge into it.
 */
export function connectInProcess(services: InProcessServices): Connections {
  const subgraphs = new Map(
    [services.auth, services.tasks, services.backup].map(({ subgraph }) => [subgraph.name, subgraph]),
  );
  const outside = createOutsideClient();

  const named = (service: string): Subgraph => {
    const subgraph = subgraphs.get(service);
    if (!subgraph) throw unavailable(undefined, new Error(`There is no service "${service}" in this process.`));
    return subgraph;
  };

  return {
    async request(service, url, request, options) {
      if (url !== undefined) return outside.request(url, request, options);
      return named(service).execute(request, options.call);
    },
    auth: services.auth.internal,
    tasks: services.tasks.internal,
    backup: services.backup.work,
    async probe(service, url) {
      if (url !== undefined) return outside.probe(url);
      await named(service).execute(
        { query: '{ __typename }' },
        { identity: { role: 'service', name: 'gateway' }, requestId: 'probe' },
      );
    },
    close: () => outside.close(),
  };
}
