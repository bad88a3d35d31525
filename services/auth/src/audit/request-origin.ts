/** Where a request came from, for limits and the audit trail. */
export interface RequestOrigin {
  /** The client's address as the gateway saw it; null when unknown. */
  ip: string | null;
  /** The client's user agent; null when it sent none. */
  client: string | null;
  requestId: string;
}
