import { createMeters } from '@taskmesh/service';
import { Histogram, type Registry } from 'prom-client';

/** auth's own metrics. Few labels, and never ids. */
export function createAuthMetrics(registry: Registry) {
  const { counter, gauge } = createMeters(registry);
  const hashing = new Histogram({
    name: 'taskmesh_auth_password_hash_seconds',
    help: 'Time to hash or check one password, without the wait in the queue',
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1],
    registers: [registry],
  });
  const mutations = counter('taskmesh_auth_mutations_total', 'Mutations by name and outcome', 'mutation', 'outcome');
  const mails = counter(
    'taskmesh_auth_recovery_mails_total',
    'Attempts to send a mail about an account (recovery, changes) by outcome',
    'outcome',
  );
  // Starts every series at zero, so that the first failure shows as an increase.
  for (const outcome of ['sent', 'failed', 'given-up']) mails.inc({ outcome }, 0);
  return {
    hashed: (seconds: number) => hashing.observe(seconds),
    /** Counts a mutation by its outcome: `ok` or the error's code. */
    mutation: (mutation: string, outcome: string) => mutations.inc({ mutation, outcome }),
    mail: (outcome: 'sent' | 'failed' | 'given-up') => mails.inc({ outcome }),
    watchQueue(waiting: () => number) {
      gauge('taskmesh_auth_password_hash_waiting', 'Passwords waiting to be hashed', waiting);
    },
  };
}
