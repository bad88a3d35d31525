// What tests get as @jest/globals.
export const { jest, expect, describe, it, test, beforeAll, beforeEach, afterEach, afterAll } = globalThis;
