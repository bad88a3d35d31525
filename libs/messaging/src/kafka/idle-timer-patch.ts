import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

const patched = Symbol.for('taskmesh.kafkajs.idle-timer-patch');

/**
 * kafkajs 2.2.4 keeps a timer of 1 ms running on every connection although nothing waits for it (issues 1556, 1704), with a
 * negative time, which Node 24 warns of (1751). Only a queue in which something waits needs the timer.
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
