import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** auth's own metrics. Few labels, and never ids. */
export interface AuthMetrics {
  hashed(seconds: number): void;
  /** Takes the mutation's name and its outcome: `ok` or the error's code. */
  mutation(name: string, outcome: string): void;
  mail(outcome: 'sent' | 'failed' | 'given-up'): void;
  watchQueue(waiting: () => number): void;
}

/** Without a registry, nothing is measured. */
export function createAuthMetrics(registry: Registry | undefined): AuthMetrics {
  if (!registry) return { hashed: ignore, mutation: ignore, mail: ignore, watchQueue: ignore };
  const registers = [registry];
  const hashing = new Histogram({
    name: 'taskmesh_auth_password_hash_seconds',
    help: 'Time to hash or check one password, without waiting for a turn',
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1],
    registers,
  });
  const mutations = new Counter({
    name: 'taskmesh_auth_mutations_total',
    help: 'Mutations by name and outcome',
    labelNames: ['mutation', 'outcome'],
    registers,
  });
  const mails = new Counter({
    name: 'taskmesh_auth_recovery_mails_total',
    help: 'Attempts to send a mail about an account (recovery, changes) by outcome',
    labelNames: ['outcome'],
    registers,
  });
  return {
    hashed: (seconds) => hashing.observe(seconds),
    mutation: (mutation, outcome) => mutations.inc({ mutation, outcome }),
    mail: (outcome) => mails.inc({ outcome }),
    watchQueue(waiting) {
      new Gauge({
        name: 'taskmesh_auth_password_hash_waiting',
        help: 'Passwords that wait for their turn to be hashed',
        registers,
        collect() {
          this.set(waiting());
        },
      });
    },
  };
}

function ignore(): void {
  // nothing is measured
}
