/** The text of an operation; the types of its result and its variables go with it, and cost nothing at run time. */
export type Document<Result, Variables> = string & { readonly types?: (variables: Variables) => Result };
