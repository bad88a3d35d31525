/** Where a request came from: for limits and the audit trail. */
export interface RequestOrigin {
  /** The caller's address as the gateway saw it; null when nobody told. */
  ip: string | null;
  /** What the caller's program calls itself; null when it does not say. */
  client: string | null;
  requestId: string;
}
