/** An archive that no restore would take, though its files and dumps are in order. The message is a part of a sentence. */
export class VerifyError extends Error {
  override readonly name = 'VerifyError';
}
