import { jest } from '@jest/globals';

// Some promises are about time ("within a second"), and a machine that does everything at once breaks one now and then.
// So in a run of everything a test that fails gets one more try; the report names it (deploy/local/src/test-run).
if (process.env.TASKMESH_SECOND_TRY)
  jest.retryTimes(1, { logErrorsBeforeRetry: true, retryImmediately: true });
