/** No restore would accept the archive, although its files and dumps are valid. The message is part of a sentence. */
export class VerifyError extends Error {
  override readonly name = 'VerifyError';
}

/** The archive can be restored only without what its stores lack. */
export class LossError extends Error {
  override readonly name = 'LossError';
}
