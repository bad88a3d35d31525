export { epochAt, LARGEST_EPOCH } from './epoch-at.ts';
export { openLockSession, type LockSession } from './lock-session.ts';
export { createWorkerHealth, keepWorking, type KeepWorkingOptions } from './keep-working.ts';
export { createSignal, type Signal } from './signal.ts';
