/** An archive that no restore would take, though its files and dumps are in order. The message is a part of a sentence. */
export class VerifyError extends Error {
  override readonly name = 'VerifyError';
}

/** An archive that was restored, but for what its stores have no place for. */
export class LossError extends Error {
  override readonly name = 'LossError';
}
