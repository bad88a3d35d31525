export { createAgeLimit, createAlarms, type LimitAge, type SetAlarm } from './age-limit.ts';
export { createHeartbeats, type Heartbeats } from './heartbeats.ts';
export * from './options.ts';
export { createRealtimeServer, REALTIME_PATH, type Handshake, type RealtimeServer } from './server.ts';
export * from './socket.ts';
export type { Change, Column, Row, Table } from './table.ts';
