// The token survives a reload. Session storage belongs to this tab and this origin, and the browser empties it with the tab.
const NAME = 'gatewright.operator-token'

/** The token that this tab has used before; null without one. */
export const storedToken = (): string | null => sessionStorage.getItem(NAME)

/** Keeps a token that the host has accepted. */
export const storeToken = (token: string): void => sessionStorage.setItem(NAME, token)

export const forgetToken = (): void => sessionStorage.removeItem(NAME)
