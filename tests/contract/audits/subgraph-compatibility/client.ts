type Variables = Record<string, unknown>;
type Ask = (request: { query: string; variables?: Variables }, headers?: Record<string, string>) => Promise<unknown>;

let ask: { products: Ask; router: Ask } | undefined;

/** Whom the suite's tests ask. */
export function askThere(products: Ask, router: Ask): void {
  ask = { products, router };
}

// Take the place of the suite's functions of these names, which have addresses of their own.

export const productsRequest: Ask = async (request, headers) => ask?.products(request, headers);

export const routerRequest: Ask = async (request) => ask?.router(request);
