import { unauthenticated } from '@taskmesh/contracts';
import { operatorsPlaceEndpoint, type Endpoint } from '../endpoint.ts';
import { operatorsCode, operatorsToken } from '../schemas/operators.ts';

/** Exchanges a code for its token, which works once. */
export type ExchangeCode = (code: string) => string | undefined;

/** How a page that was opened by an address with a code becomes an operator's. */
export const operatorsSignInEndpoints = (exchangeCode: ExchangeCode): readonly Endpoint[] => [
  operatorsPlaceEndpoint({
    method: 'POST',
    path: '/operations/sign-in',
    name: 'signInOperator',
    summary: 'Exchange a code for the token of this machine',
    description:
      'For our own page, opened on this machine at the address shown in the terminal. Its code is valid once, for ten minutes. 401 after that, and if no such token exists.',
    bodySchema: operatorsCode,
    status: 200,
    answerSchema: operatorsToken,
    handle: ({ body: { code } }) => {
      const token = exchangeCode(code);
      if (token === undefined) throw unauthenticated('The address was opened before, or is too old: use the token.');
      return { body: { success: true, message: 'You are an operator.', data: { token } } };
    },
  }),
];
