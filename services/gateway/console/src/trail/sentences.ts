const SENTENCES = new Map([
  ['account.created', 'You opened the account'],
  ['session.opened', 'You signed in'],
  ['session.refreshed', 'A session went on'],
  ['session.ended', 'A session ended'],
  ['session.refresh_token_reused', 'A session was ended, because its token was used twice'],
  ['login.failed', 'Somebody tried to sign in, with a wrong password'],
  ['name.changed', 'You changed your name'],
  ['password.changed', 'You changed your password'],
  ['password.reset', 'A new password was set by a recovery mail'],
  ['recovery.requested', 'A recovery mail was asked for'],
  ['recovery.mail_sent', 'A recovery mail was sent'],
  ['email.change_requested', 'You asked for another e-mail address'],
  ['email.changed', 'Your e-mail address was changed'],
  ['identity.linked', 'A way to sign in at a provider was linked'],
  ['identity.unlinked', 'A way to sign in at a provider was removed'],
  ['token.created', 'You made a token'],
  ['token.ended', 'A token was ended'],
]);

/** Describes an entry. Kinds that this page does not know are shown as they are. */
export function sentenceFor(kind: string): string {
  return SENTENCES.get(kind) ?? kind;
}
