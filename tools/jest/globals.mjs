// Tests get this module as @jest/globals.
export const { jest, expect, describe, it, test, beforeAll, beforeEach, afterEach, afterAll } = globalThis;
