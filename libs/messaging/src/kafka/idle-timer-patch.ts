import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

const patched = Symbol.for('taskmesh.kafkajs.idle-timer-patch');

/**
 * kafkajs 2.2.4 keeps a 1 ms timer running on every idle connection (issues 1556, 1704), with a negative delay, about
 * which Node 24 warns (1751). Only a queue with pending requests needs the timer.
 */
export function patchIdleTimer(): void {
  const queue: typeof RequestQueue.prototype & { [patched]?: true } = RequestQueue.prototype;
  if (queue[patched]) return;
  queue[patched] = true;
  const schedule = queue.scheduleCheckPendingRequests;
  queue.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) schedule.call(this);
  };
}
