import type { Mail } from '@taskmesh/mail';

export const TOKEN_LIFETIME_MINUTES = 30;

/** The token also has a line of its own, in case the link cannot be followed. After `#`, no server sees it. */
export function recoveryMail({ to, token, publicUrl }: { to: string; token: string; publicUrl: string }): Mail {
  return {
    to,
    subject: 'Set a new Taskmesh password',
    text: [
      'Somebody, most likely you, asked for a new password of your Taskmesh account.',
      '',
      'Follow this link to choose one:',
      '',
      `${publicUrl}/reset-password#token=${token}`,
      '',
      'Or enter this token where you are asked for it:',
      '',
      token,
      '',
      `Both work once, for ${TOKEN_LIFETIME_MINUTES} minutes. If it was not you, there is nothing to do: your password stays as it is.`,
      '',
    ].join('\n'),
  };
}
