/** The purpose for which the page was opened. */
export type Purpose =
  /** `testWallet`: at once with a test wallet, where the host offers one. */
  | { readonly kind: 'account'; readonly testWallet: boolean }
  | { readonly kind: 'kyc' }
  | { readonly kind: 'cli'; readonly requestId: string }

/**
 * Reads the purpose from the address. A request token is a secret, so it is removed from the address; a request id stays, so
 * that the page can be reloaded. A `code` is never read: the person types it.
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
  if (fields.has('kyc')) return { kind: 'kyc' }
  const testWallet = fields.has('test-wallet')
  // After a sign-out the same address must not sign in again.
  if (testWallet) history.replaceState(null, '', location.pathname)
  return { kind: 'account', testWallet }
}
