export { closed, freePort, listen, ownInstallation, requiredAddress } from './addresses.ts';
export { atEnd, connectClient, makeTempDir } from './at-end.ts';
export { createTestClock, type TestClock } from './clock.ts';
export { createSlowWork, eventually, fastestOf } from './eventually.ts';
export { createFaultyProxy, createProxyFor, type FaultyProxy } from './faulty-proxy.ts';
export { countWaiting, whileLocked } from './locks.ts';
export { createDice, createRandom, numberFromEnv, type Dice } from './random.ts';
export { collectGarbage, liveBytes, nodeEnvironment, startService } from './processes.ts';
export * from './test-database.ts';
