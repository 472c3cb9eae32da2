/** A signed message of a provider. */
export interface SignedMessage {
  /** Returns the value of a header field. The name is in lower case. */
  header(name: string): string | undefined
  /** The body as received: its bytes are signed. */
  readonly body: Uint8Array
}

/**
 * Verifies that a message is signed by the provider and recent. Resolves with the id of the message, which must be the same when the
 * provider sends the message again: it is how a replay is recognized. Resolves with undefined for an invalid message; must not throw
 * for one.
 */
export type MessageVerifier = (message: SignedMessage) => Promise<string | undefined>
