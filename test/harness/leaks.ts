/** Credentials as answers carry them: API keys and session tokens. */
const CREDENTIALS = [/gw_\w+_(?:user|partner)_\w{16}_\w{36}/g, /eyJ[\w-]+\.[\w-]+\.[\w-]+/g]

/** Remembers every credential that a host handed out, and everything that it said where none may be. */
export class Leaks {
  readonly #secrets = new Set<string>()
  readonly #said: string[] = []

  /** A success may hold credentials; they are secrets from now on. */
  handedOut(text: string): void {
    for (const pattern of CREDENTIALS)
      for (const [secret] of text.matchAll(pattern)) this.#secrets.add(secret)
  }

  /** An error, a decision or metrics: no credential may be in it. */
  said(text: string): void {
    this.#said.push(text)
  }

  /** Throws when anything said holds a credential, or the secret part of one. */
  check(): void {
    const all = this.#said.join('\n')
    for (const secret of this.#secrets) {
      // What identifies a key may be said; its last 36 characters, and a token's signature, may not.
      const part = secret.startsWith('gw_') ? secret.slice(-36) : (secret.split('.')[2] as string)
      if (all.includes(part)) throw new Error(`a credential was said: ${secret.slice(0, 20)}...`)
    }
  }
}
