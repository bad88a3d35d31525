export * from './incoming.ts';
export * from './options.ts';
export { createRealtimeServer, REALTIME_PATH, type Handshake, type RealtimeServer } from './server.ts';
export * from './socket.ts';
export * from './timers.ts';
export type { Change, Column, Row, Table } from './table.ts';
