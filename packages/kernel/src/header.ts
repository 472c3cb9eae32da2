/** A header field of an answer. */
export type HeaderField = readonly [name: string, value: string]
