/** A mail to one person, as plain text. */
export interface Mail {
  /** One address; whatever it contains, it is no list. */
  to: string;
  subject: string;
  text: string;
}

/** The way out for mails. */
export interface Mailer {
  /**
   * Resolves when somebody else has taken responsibility for the mail.
   * @throws UndeliverableError when it will never work; any other error may go away
   */
  send(mail: Mail): Promise<void>;
  close(): Promise<void>;
}

/** The mail server has refused this mail for good. */
export class UndeliverableError extends Error {
  override readonly name = 'UndeliverableError';
}
