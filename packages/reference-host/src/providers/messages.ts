/** A message as a provider sent it. */
export interface SignedMessage {
  /** A header field by its lower-case name. */
  header(name: string): string | undefined
  /** The bytes that were signed. */
  readonly body: Uint8Array
}

/** Proves that a message is the provider's and recent. Resolves with the id of the message, which is the same when it is sent again; undefined for any other. */
export type MessageVerifier = (message: SignedMessage) => Promise<string | undefined>
