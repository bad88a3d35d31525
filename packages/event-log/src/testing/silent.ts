import type { Logger } from '../event-log.ts';

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
