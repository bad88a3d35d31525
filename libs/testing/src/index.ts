export { freePort, listen, ownInstallation, requiredAddress } from './addresses.ts';
export { atEnd, connectClient, makeTempDir } from './at-end.ts';
export { eventually, fastestOf } from './eventually.ts';
export { createFaultyProxy, type FaultyProxy } from './faulty-proxy.ts';
export { createRandom, numberFromEnv } from './random.ts';
export { collectGarbage, nodeEnvironment } from './this-process.ts';
export { createTemplate, createTestDatabase, query, type TestDatabase } from './test-database.ts';
