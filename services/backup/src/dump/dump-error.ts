/** The store cannot be dumped. The message is for the operator. */
export class DumpError extends Error {
  override readonly name = 'DumpError';
}
