export { createAgeLimit, createAlarms, type LimitAge, type SetAlarm } from './age-limit.ts';
export { createHeartbeats, type Heartbeats } from './heartbeats.ts';
export * from './options.ts';
export { createRealtimeServer, REALTIME_PATH, type Handshake, type RealtimeServer } from './server.ts';
export {
  ALL_RESULTS_MS,
  closeAllGracefully,
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
  type CloseAllOptions,
  type EndReason,
  type Envelope,
  type FrameOf,
  type WriteFrame,
} from './socket.ts';
export type { Change, Column, Row, Table } from './table.ts';
