const SENTENCES = new Map([
  ['account.created', 'You created the account'],
  ['session.opened', 'You signed in'],
  ['session.refreshed', 'A session was renewed'],
  ['session.ended', 'A session ended'],
  ['session.refresh_token_reused', 'A session was ended, because its token was used twice'],
  ['login.failed', 'Somebody tried to sign in with a wrong password'],
  ['name.changed', 'You changed your name'],
  ['password.changed', 'You changed your password'],
  ['password.reset', 'A new password was set through a recovery e-mail'],
  ['recovery.requested', 'A recovery e-mail was requested'],
  ['recovery.mail_sent', 'A recovery e-mail was sent'],
  ['email.change_requested', 'You asked to change your e-mail address'],
  ['email.changed', 'Your e-mail address was changed'],
  ['identity.linked', 'A sign-in provider was linked'],
  ['identity.unlinked', 'A sign-in provider was removed'],
  ['token.created', 'You made a token'],
  ['token.ended', 'A token was ended'],
]);

/** Describes an entry. Kinds that this page does not know are shown as they are. */
export function sentenceFor(kind: string): string {
  return SENTENCES.get(kind) ?? kind;
}
