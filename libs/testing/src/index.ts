export { createTemplate, createTestDatabase, type TestDatabase } from './test-database.ts';
export { ownInstallation, requiredAddress } from './addresses.ts';
export { collectGarbage } from './collect-garbage.ts';
export { freePort } from './free-port.ts';
export { nodeEnvironment } from './node-environment.ts';
export { eventually } from './eventually.ts';
export { createFaultyProxy, type FaultyProxy } from './faulty-proxy.ts';
export { fastestOf } from './fastest-of.ts';
