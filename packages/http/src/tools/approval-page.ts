/** A page that a client opens for its person, as a URL elicitation of the Model Context Protocol. */
export interface ApprovalPage {
  /** The name of the request in the result that asks for it, and of the client's response. */
  readonly name: string
  readonly url: string
  /** Says to the person what the page is for. */
  readonly message: string
  readonly elicitationId: string
}

/** What is known of the client that called a tool. */
interface AskedClient {
  /** The members of `_meta` with which a client of 2026-07-28 says what it can do. */
  readonly envelope: unknown
  /** What a client of 2025-11-25 said of itself when it initialized. Undefined: that is not known. */
  readonly initialized?: unknown
  /** What the client responds to the requests of an earlier result. */
  readonly inputResponses: unknown
}

const NAME = 'approve'
/** The member of the envelope with the capabilities of the client. */
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/**
 * Returns the page that a client should open, in place of the result of a call that waits for an approval. Undefined: another result, a client
 * that has not declared `elicitation.url`, or one that calls again after it was asked. What it then responds is not read: that its person
 * opened the page does not say that the owner approved, which the call has just checked.
 */
export function approvalPageOf(
  result: {
    readonly isError?: boolean | undefined
    readonly content: readonly { readonly type: string; readonly text?: string }[]
  },
  { envelope, initialized, inputResponses }: AskedClient,
): ApprovalPage | undefined {
  const capabilities = envelope === undefined ? initialized : memberOf(envelope, CAPABILITIES)
  const opensPages = memberOf(memberOf(capabilities, 'elicitation'), 'url') !== undefined
  if (result.isError !== true || !opensPages || memberOf(inputResponses, NAME) !== undefined) return undefined
  const denial: unknown = JSON.parse(result.content[0]?.text ?? 'null')
  const [url, elicitationId] = [memberOf(denial, 'approveUrl'), memberOf(denial, 'approvalId')]
  if (memberOf(denial, 'error') !== 'approval_required') return undefined
  if (typeof url !== 'string' || typeof elicitationId !== 'string') return undefined
  return { name: NAME, url, elicitationId, message: messageOf(denial) }
}

function messageOf(denial: unknown): string {
  const payees = memberOf(denial, 'payee')
  const cents = memberOf(denial, 'amountCents')
  const isDollars = memberOf(denial, 'currency') === 'USD' && typeof cents === 'number'
  const amount = isDollars ? ` of ${(cents / 100).toFixed(2)} USD` : ''
  const to = Array.isArray(payees) && payees.length > 0 ? ` to ${payees.join(' or ')}` : ''
  return `A payment${amount}${to} waits until the owner of the account approves it. Open this page to approve or deny it.`
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined
