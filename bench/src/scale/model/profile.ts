/** The owners that the capacity tables are about. A guess at a busy product, not a measurement: put in your own. */
export const PROFILE = {
  /** How many of them have a live connection. Only they do anything. */
  onlineShare: 0.1,
  socketsPerOnline: 1.3,
  /** Of one owner who is online. */
  perHour: { list: 12, get: 6, statistics: 4, create: 4, update: 8, login: 0.2, open: 2 },
  tasksPerOwner: 200,
  /** The mean of a week, as a share of the busy hour. */
  meanShare: 0.4,
  changeRetentionHours: 168,
  kafkaRetentionHours: 72,
  kafkaCopies: 3,
};
