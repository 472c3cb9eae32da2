/** A word that is a name, such as `amountCents`, `users.read` or `X-User-Key`: its case is part of it. */
const NAME = /[A-Z0-9._=[\]/-]/

/**
 * Makes a message one or more whole sentences: a capital at the beginning, unless it begins with a name such as that of the wrong
 * field, and a period at the end.
 */
export function sentence(message: string, field = ''): string {
  const [first = ''] = message.split(/[\s,:;]/, 1)
  const isName = NAME.test(first) || (first !== '' && (field === first || field.startsWith(`${first}.`)))
  const begun = isName ? message : message.charAt(0).toUpperCase() + message.slice(1)
  return /[.?!]$/.test(begun) ? begun : `${begun}.`
}
