/** A header field of an HTTP response. */
export type HeaderField = readonly [name: string, value: string]
