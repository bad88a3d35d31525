export { freePort, ownInstallation, requiredAddress } from './addresses.ts';
export { atEnd, connectClient, makeTempDir } from './at-end.ts';
export { eventually, fastestOf } from './eventually.ts';
export { createFaultyProxy, type FaultyProxy } from './faulty-proxy.ts';
export { createRestoredDatabase, endSessions, swapDatabases } from './restored-database.ts';
export { collectGarbage, nodeEnvironment } from './this-process.ts';
export { administer, createTemplate, createTestDatabase, type TestDatabase } from './test-database.ts';
