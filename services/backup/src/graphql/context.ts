import type { SubgraphContext } from '@taskmesh/subgraph';

export type BackupContext = SubgraphContext;
