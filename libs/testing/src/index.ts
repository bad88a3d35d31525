export { freePort, ownInstallation, requiredAddress } from './addresses.ts';
export { atEnd, connectClient, makeTempDir } from './at-end.ts';
export { eventually, fastestOf } from './eventually.ts';
export { createFaultyProxy, createProxyFor, type FaultyProxy } from './faulty-proxy.ts';
export { countWaiting, whileLocked } from './locks.ts';
export { createRestoredDatabase, endSessions, swapDatabases } from './restored-database.ts';
export { collectGarbage, nodeEnvironment } from './this-process.ts';
export { administer, createTemplate, createTestDatabase, type TestDatabase } from './test-database.ts';
