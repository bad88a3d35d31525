export { createHeartbeats, type Heartbeats } from './heartbeats.ts';
export * from './options.ts';
export { createRealtimeServer, REALTIME_PATH, type Handshake, type RealtimeServer } from './server.ts';
export {
  ALL_RESULTS_MS,
  closeGracefully,
  createFrames,
  createMessageRate,
  cutFloods,
  cutSlow,
  endReasonOf,
  endSocket,
  failSocket,
  frameWriter,
  hasTooManyResults,
  isLeaving,
  isTooFarBehind,
  keepAlive,
  oweResult,
  retire,
  sendResult,
  SERVICE_RESTART,
  unfinishedBytes,
  waitForDrain,
  writeShared,
  WS_CLOSE,
  type EndReason,
  type Envelope,
  type FrameOf,
  type WriteFrame,
} from './socket.ts';
export type { Change, Column, Row, Table } from './table.ts';
