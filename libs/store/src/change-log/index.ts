export { epochAt, LARGEST_EPOCH } from './epoch-at.ts';
export { openLockSession } from './lock-session.ts';
export { createSignal, createWorkerHealth, keepWorking } from './keep-working.ts';
