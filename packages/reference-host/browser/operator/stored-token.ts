// The token survives a reload. Session storage belongs to this tab and this origin, and the browser empties it with the tab. A
// browser may refuse storage: then a reload asks for the token again.
const NAME = 'gatewright.operator-token'

/** The token that this tab has used before; null without one. */
export function storedToken(): string | null {
  try {
    return sessionStorage.getItem(NAME)
  } catch {
    return null
  }
}

/** Keeps a token that the host has accepted. */
export function storeToken(token: string): void {
  try {
    sessionStorage.setItem(NAME, token)
  } catch {
    return undefined
  }
}

/** Forgets the token of this tab. */
export function forgetToken(): void {
  try {
    sessionStorage.removeItem(NAME)
  } catch {
    return undefined
  }
}
