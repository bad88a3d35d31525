import type { Mail } from '@taskmesh/mail';
import type { AccountMailKind } from '../changes/change.entities.ts';

/** How long mailed tokens are valid. */
export const TOKEN_MINUTES = { recovery: 30, confirmation: 60 };

const at = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const from = (ip: string | null) => (ip === null ? '' : `, from the address ${ip}`);

const mail = (to: string, subject: string, lines: string[]): Mail => ({ to, subject, text: [...lines, ''].join('\n') });

interface Change {
  to: string;
  time: Date;
  ip: string | null;
  publicUrl: string;
}

/** Mails that report a completed change. */
export const CHANGE_MAILS: Record<Exclude<AccountMailKind, 'email.confirm'>, (change: Change) => Mail> = {
  'password.changed': ({ to, time, ip, publicUrl }) =>
    mail(to, 'Your Taskmesh password was changed', [
      `The password of your Taskmesh account was changed on ${at(time)}${from(ip)}.`,
      'All other sessions have ended. Personal access tokens stay valid: end those that you do not recognise.',
      '',
      `If it was not you, request a recovery mail immediately and set a new password: ${publicUrl}`,
    ]),

  'email.changed': ({ to, time, ip, publicUrl }) =>
    mail(to, 'The address of your Taskmesh account was changed', [
      `The e-mail address of your Taskmesh account was changed on ${at(time)}. The new one was confirmed${from(ip)}.`,
      'Mails about the account go there from now on, and you sign in with it.',
      '',
      `If it was not you, contact the operator of this Taskmesh immediately: ${publicUrl}`,
    ]),

  'account.deleted': ({ to, time, ip, publicUrl }) =>
    mail(to, 'Your Taskmesh account was deleted', [
      `Your Taskmesh account was deleted on ${at(time)}${from(ip)}, with all of its tasks.`,
      'All sessions and personal access tokens have ended. This is the last mail about it.',
      '',
      `If it was not you, contact the operator of this Taskmesh immediately: ${publicUrl}`,
    ]),

  'identity.linked': ({ to, time, ip, publicUrl }) =>
    mail(to, 'Another way to sign in to your Taskmesh account', [
      `An identity at a sign-in provider was linked to your Taskmesh account on ${at(time)}${from(ip)}. It can sign in to your account.`,
      '',
      `If it was not you, request a recovery mail, set a new password, and remove the identity: ${publicUrl}`,
    ]),

  'identity.unlinked': ({ to, time, ip, publicUrl }) =>
    mail(to, 'A way to sign in to your Taskmesh account was removed', [
      `An identity at a sign-in provider was unlinked from your Taskmesh account on ${at(time)}${from(ip)}.`,
      '',
      `If it was not you, request a recovery mail immediately and set a new password: ${publicUrl}`,
    ]),
};

interface TokenMail {
  to: string;
  token: string;
  publicUrl: string;
}

/** The token also has its own line, in case the link cannot be followed. In the link it follows `#`, so no server sees it. */
const linesOf = ({ token, publicUrl }: TokenMail, page: string, purpose: string): string[] => [
  '',
  `Follow this link to ${purpose}:`,
  '',
  `${publicUrl}/${page}#token=${token}`,
  '',
  'Or enter this token where you are asked for it:',
  '',
  token,
  '',
];

export const recoveryMail = (options: TokenMail): Mail =>
  mail(options.to, 'Set a new Taskmesh password', [
    'Someone, most likely you, requested a new password for your Taskmesh account.',
    ...linesOf(options, 'reset-password', 'choose one'),
    `Both work once, for ${TOKEN_MINUTES.recovery} minutes. If it was not you, there is nothing to do: your password stays as it is.`,
  ]);

export const confirmEmailMail = (options: TokenMail): Mail =>
  mail(options.to, 'Confirm your new address for Taskmesh', [
    'Someone, most likely you, wants to use this address for their Taskmesh account.',
    ...linesOf(options, 'confirm-email', 'confirm it with the password of that account'),
    `Both work once, for ${TOKEN_MINUTES.confirmation} minutes, and only for the owner of the account.`,
    'If it was not you, someone may have mistyped their own address. You need not do anything.',
  ]);

/** For an address that already has an account: only the owner of that address learns of the attempt. */
export function addressInUseMail(to: string): Mail {
  return mail(to, 'Another Taskmesh account tried to use your address', [
    'Someone tried to use this address for another Taskmesh account. It belongs to yours, so nothing has changed.',
    '',
    'If it was you: change the address of this account first, or keep using this one.',
    'If it was not you, there is nothing to do.',
  ]);
}
