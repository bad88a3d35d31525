import type { SubgraphContext } from '@taskmesh/subgraph';

export type TasksContext = SubgraphContext;
