/** A broker's error types for records that it will never take. */
const FINAL_TYPES = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/**
 * Whether the record itself is the reason why it was not taken. All other reasons (no leader, no answer, too few
 * replicas, no permission) concern the log and may pass. `PublishError` gives such a reason only to the very record.
 */
export function isRefusedForGood(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if ('type' in each && FINAL_TYPES.has(String(each.type))) return true;
  return false;
}
