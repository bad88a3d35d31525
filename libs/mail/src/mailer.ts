export interface Mail {
  /** One address; commas do not make it a list. */
  to: string;
  subject: string;
  text: string;
}

export interface Mailer {
  /**
   * Resolves when the next server (or the disk) has accepted the mail.
   * @throws UndeliverableError when it can never be delivered; any other error may be temporary
   */
  send(mail: Mail): Promise<void>;
  close(): Promise<void>;
}

export class UndeliverableError extends Error {
  override readonly name = 'UndeliverableError';
}
