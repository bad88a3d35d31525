type Variables = Record<string, unknown>;
type SendQuery = (
  request: { query: string; variables?: Variables },
  headers?: Record<string, string>,
) => Promise<unknown>;

let sendQuery: { products: SendQuery; router: SendQuery } | undefined;

/** Sets the servers that the suite's tests call. */
export function sendQueryTo(products: SendQuery, router: SendQuery): void {
  sendQuery = { products, router };
}

// Replace the suite's functions with these names, which call fixed addresses.

export const productsRequest: SendQuery = async (request, headers) => sendQuery?.products(request, headers);

export const routerRequest: SendQuery = async (request) => sendQuery?.router(request);
