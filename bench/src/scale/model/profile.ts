import type { Demand } from './demand.ts';

/** The owners that the capacity tables are about. A guess at a busy product, not a measurement: put in your own. */
export const PROFILE: Omit<Demand, 'owners'> = {
  onlineShare: 0.1,
  socketsPerOnline: 1.3,
  perHour: { list: 12, get: 6, statistics: 4, create: 4, update: 8, login: 0.2, open: 2 },
  tasksPerOwner: 200,
  meanShare: 0.4,
  changeRetentionHours: 168,
  kafkaRetentionHours: 72,
  kafkaCopies: 3,
};
