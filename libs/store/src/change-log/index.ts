export { epochAt, LARGEST_EPOCH } from './epoch-at.ts';
export { openLockSession, type LockSession } from './lock-session.ts';
export { createSignal, createWorkerHealth, keepWorking, type KeepWorkingOptions, type Signal } from './keep-working.ts';
