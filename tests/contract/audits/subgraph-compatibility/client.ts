type Variables = Record<string, unknown>;
type Ask = (request: { query: string; variables?: Variables }, headers?: Record<string, string>) => Promise<unknown>;

let ask: { products: Ask; router: Ask } | undefined;

/** Sets the servers that the suite's tests call. */
export function askThere(products: Ask, router: Ask): void {
  ask = { products, router };
}

// Replace the suite's functions with these names, which call fixed addresses.

export const productsRequest: Ask = async (request, headers) => ask?.products(request, headers);

export const routerRequest: Ask = async (request) => ask?.router(request);
