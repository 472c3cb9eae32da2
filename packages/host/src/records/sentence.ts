/** A word that is a name, such as `amountCents`, `users.read` or `X-User-Key`: its case is part of it. */
const NAME = /[A-Z0-9._=[\]/-]/

/** Partner clients search messages for these words as they are. */
const SEARCHED = /^(?:account locked|kyc required|agreements required)\b/

/**
 * Makes a message one or more whole sentences: a capital at the beginning, unless it begins with a name such as that of the wrong
 * field or with words that clients search for, and a period at the end.
 */
export function sentence(message: string, field = ''): string {
  const [first = ''] = message.split(/[\s,:;]/, 1)
  const isName = NAME.test(first) || (first !== '' && (field === first || field.startsWith(`${first}.`)))
  const keepsCase = isName || SEARCHED.test(message)
  const begun = keepsCase ? message : message.charAt(0).toUpperCase() + message.slice(1)
  return /[.?!]$/.test(begun) ? begun : `${begun}.`
}
