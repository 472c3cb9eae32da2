/**
 * What a signed text covers beyond wallet, nonce and times. A proof that does not bind one of these can be reused with another
 * chain, domain or request.
 */
export type Binding = 'chain' | 'domain' | 'request'

/** The input of a template: it renders the fields, or compares a message with them. */
export interface TemplateInput {
  /**
   * The statement's fields as sent (absent ones undefined), and what the host knows: `service`, `domain`,
   * `requestDigest`. Each is one plain line.
   */
  readonly fields: Readonly<Record<string, string | undefined>>
  /** The signed text, where the client sent it. */
  readonly message: string | undefined
}

/** The text that the wallet must have signed, or why there is none by this template. */
export type TemplateMatch =
  | {
      readonly kind: 'match'
      readonly text: string
      readonly binds: readonly Binding[]
      /** The chain that the text names, where it names one. */
      readonly chainId: string | undefined
      /** The text is not valid before this instant (epoch ms). */
      readonly notBefore?: number | undefined
    }
  /** The message belongs to another template, or this template needs the field `missing`. */
  | { readonly kind: 'other'; readonly reason: string; readonly missing?: string | undefined }
  /** The message belongs to this template, but its `field` differs from the request or the host. */
  | { readonly kind: 'mismatch'; readonly field: string }

/** One format of signed text. `lineTemplate` makes one from its lines. */
export interface Template {
  /** The name that a client sends as `template`, and that the verdict contains. */
  readonly name: string
  /** `fields`: rendered from the fields as sent. `message`: the client sends the signed text itself. */
  readonly source: 'fields' | 'message'
  /** Every field of the text. The verifier checks that unknown fields are plain lines, and passes them to the template. */
  readonly uses: readonly string[]
  read(input: TemplateInput): TemplateMatch
  /**
   * Reads the fields that a message states, for clients that send only `message` and `signature`; undefined if the message is
   * not of this template. They are not trusted: `read` compares the message with these fields and with the host. Without this
   * function, a proof of this template must have its fields.
   */
  fieldsOf?(message: string, service: string): Readonly<Record<string, string | undefined>> | undefined
}
