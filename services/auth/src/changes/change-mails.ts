import type { Mail } from '@taskmesh/mail';

export const EMAIL_TOKEN_LIFETIME_MINUTES = 60;

const at = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const from = (ip: string | null) => (ip === null ? '' : `, from the address ${ip}`);

interface Change {
  to: string;
  time: Date;
  ip: string | null;
  publicUrl: string;
}

export function passwordChangedMail({ to, time, ip, publicUrl }: Change): Mail {
  return {
    to,
    subject: 'Your Taskmesh password was changed',
    text: [
      `The password of your Taskmesh account was changed on ${at(time)}${from(ip)}.`,
      'All other sessions have ended. Personal access tokens go on: end those that you do not know.',
      '',
      `If it was not you, ask for a recovery mail at once and set a new password: ${publicUrl}`,
      '',
    ].join('\n'),
  };
}

/** The token also has a line of its own, in case the link cannot be followed. After `#`, no server sees it. */
export function confirmEmailMail({ to, token, publicUrl }: { to: string; token: string; publicUrl: string }): Mail {
  return {
    to,
    subject: 'Confirm your new address for Taskmesh',
    text: [
      'Somebody, most likely you, asked that this be the address of their Taskmesh account.',
      '',
      'Follow this link to confirm it:',
      '',
      `${publicUrl}/confirm-email#token=${token}`,
      '',
      'Or enter this token where you are asked for it:',
      '',
      token,
      '',
      `Both work once, for ${EMAIL_TOKEN_LIFETIME_MINUTES} minutes. If it was not you, there is nothing to do.`,
      '',
    ].join('\n'),
  };
}

/** For an address that already has an account: only its owner learns of the attempt. */
export function addressInUseMail(to: string): Mail {
  return {
    to,
    subject: 'Your address was asked for by another Taskmesh account',
    text: [
      'Somebody asked that this be the address of another Taskmesh account. It is the address of yours, so nothing has changed.',
      '',
      'If it was you: change the address of this account first, or go on with this one.',
      'If it was not you, there is nothing to do.',
      '',
    ].join('\n'),
  };
}

export function emailChangedMail({ to, time, ip, publicUrl }: Change): Mail {
  return {
    to,
    subject: 'The address of your Taskmesh account was changed',
    text: [
      `Your Taskmesh account has another e-mail address since ${at(time)}. It was confirmed there${from(ip)}.`,
      'Mails about the account go there from now on, and you sign in with it.',
      '',
      `If it was not you, write to whoever runs this Taskmesh at once: ${publicUrl}`,
      '',
    ].join('\n'),
  };
}
