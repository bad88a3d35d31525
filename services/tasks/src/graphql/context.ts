import type { SubgraphContext } from '@taskmesh/subgraph';

/** What the resolvers of this service find beside their arguments. */
export type TasksContext = SubgraphContext;
