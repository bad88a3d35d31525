export { createTestDatabase, type TestDatabase } from './test-database.ts';
export { requiredAddress } from './addresses.ts';
export { eventually } from './eventually.ts';
