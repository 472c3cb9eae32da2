/** The schemes of access tokens (RFC 6750 section 2.1, RFC 9449 section 7.1). */
type TokenScheme = 'Bearer' | 'DPoP'

/** What the `Authorization` of a request holds. */
export type Authorization =
  /** No field, or a scheme other than those of access tokens. */
  | { readonly kind: 'none' }
  /** A scheme of access tokens without exactly one token. `cause` says what is wrong, without a part of the field. */
  | { readonly kind: 'malformed'; readonly scheme: TokenScheme; readonly cause: string }
  | { readonly kind: 'token'; readonly scheme: TokenScheme; readonly token: string }

const BEARER = 'Bearer '

/** A scheme of access tokens; what follows it cannot be part of its name (RFC 9110 section 5.6.2). It is case-insensitive. */
const SCHEME = /^(bearer|dpop)(?![\w!#$%&'*+.^`|~-])/i

/** The same after a comma: several fields, which servers join, or several credentials in one. */
const LATER_SCHEME = /,[ \t]*(bearer|dpop)(?![\w!#$%&'*+.^`|~-])/i

/** One or more spaces and a `b64token` (RFC 6750 section 2.1). */
const TOKEN = /^ +([\w.~+/-]+=*)$/

/**
 * No guard takes a token as long as this. A longer field is not searched: V8 can end an expression that reads millions of characters with a
 * `RangeError`, for want of stack.
 */
const MOST_CHARACTERS = 65_536

const schemeOf = (name: string | undefined): TokenScheme =>
  name?.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer'

/** Reads an `Authorization` field as received; several fields are joined by a comma. */
export function readAuthorization(field: unknown): Authorization {
  if (typeof field !== 'string') return { kind: 'none' }
  if (field.length > MOST_CHARACTERS) return readStart(field)
  // The spelling that nearly all clients send. What is wrong with its token is found when it is verified.
  if (field.startsWith(BEARER) && TOKEN.test(field.slice(BEARER.length - 1)))
    return { kind: 'token', scheme: 'Bearer', token: field.slice(BEARER.length).trimStart() }
  const later = LATER_SCHEME.exec(field)
  const named = SCHEME.exec(field)
  if (!named && !later) return { kind: 'none' }
  const scheme = schemeOf((named ?? later)?.[1])
  if (later) return { kind: 'malformed', scheme, cause: 'more than one credential' }
  const rest = field.slice(scheme.length)
  const token = TOKEN.exec(rest)?.[1]
  return token === undefined
    ? { kind: 'malformed', scheme, cause: causeOf(rest) }
    : { kind: 'token', scheme, token }
}

/** Reads the scheme of a long field. What follows it is passed on as one token, which is denied as too long. */
function readStart(field: string): Authorization {
  const name = SCHEME.exec(field)?.[1]
  if (name === undefined) return { kind: 'none' }
  return { kind: 'token', scheme: schemeOf(name), token: field.slice(name.length) }
}

function causeOf(rest: string): string {
  const text = rest.trim()
  if (text === '') return 'a scheme without a token'
  if (!rest.startsWith(' ')) return 'no space after the scheme'
  return /\s/.test(text) ? 'a token with white space' : 'a token with characters that no token has'
}
