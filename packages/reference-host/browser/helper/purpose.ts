/** What the page was opened for. */
export type Purpose =
  | { readonly kind: 'account' }
  | { readonly kind: 'kyc' }
  | { readonly kind: 'cli'; readonly requestId: string }

/**
 * Reads from the address what the page was opened for. A request token in it is a secret, so it is taken out of the address; an id
 * stays, so that the page can be loaded again. A `code` in it is never read: the person types it.
 */
export function readPurpose(): Purpose {
  const fields = new URLSearchParams(location.hash.slice(1))
  const requestId = fields.get('request')
  if (requestId !== null && requestId !== '') {
    const isId = /^[0-9a-f]{32}$/.test(requestId)
    if (!isId || fields.size > 1)
      history.replaceState(null, '', isId ? `${location.pathname}#request=${requestId}` : location.pathname)
    return { kind: 'cli', requestId }
  }
  return fields.has('kyc') ? { kind: 'kyc' } : { kind: 'account' }
}
