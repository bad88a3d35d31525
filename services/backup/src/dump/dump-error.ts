/** A store that cannot be dumped as it is. The message is for the operator. */
export class DumpError extends Error {
  override readonly name = 'DumpError';
}
