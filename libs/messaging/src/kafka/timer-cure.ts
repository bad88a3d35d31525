import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

const cured = Symbol.for('taskmesh.kafkajs.timer-cure');

/**
 * kafkajs 2.2.4 keeps a timer of 1 ms running on every connection although nothing waits for it (issues 1556, 1704), with a
 * negative time, which Node 24 warns of (1751). Only a queue in which something waits needs the timer.
 */
export function cureIdleTimer(): void {
  const queue: typeof RequestQueue.prototype & { [cured]?: true } = RequestQueue.prototype;
  if (queue[cured]) return;
  queue[cured] = true;
  const schedule = queue.scheduleCheckPendingRequests;
  queue.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) schedule.call(this);
  };
}
