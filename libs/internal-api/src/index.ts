export * from './calls.ts';
export {
  createResponseBudget,
  createServicePool,
  createStreamPool,
  type PostRequest,
  type ServicePool,
} from './pools.ts';
export * from './stores.ts';
export * from './auth.ts';
export * from './tasks.ts';
export * from './backup/backup-work.ts';
export * from './operators.ts';
export { createBackupWorkClient } from './backup/client.ts';
export { createLines, readLines, receiveBody, type Lines } from './backup/streams.ts';
export * from './backup/parameters.ts';
export { backupWorkRoutes } from './backup/serve.ts';
export { createSubgraphServer, type SubgraphServerOptions } from './graph/server.ts';
export * from './graph/subgraph.ts';
