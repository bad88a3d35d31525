/** The text of an operation. The types of its result and variables exist only at compile time. */
export type Document<Result, Variables> = string & { readonly types?: (variables: Variables) => Result };
