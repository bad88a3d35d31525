import { claimFrom } from '../mails/mail-queue.ts';

/** Kinds that are unknown here are left to the newer version that knows them and runs beside this one. $3 known kinds */
export const CLAIM_MAIL = claimFrom('account_mails', 'kind = any($3::text[])');
