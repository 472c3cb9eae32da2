/** Credentials as responses carry them: API keys and session tokens. */
const CREDENTIALS = [/gw_\w+_(?:user|partner)_\w{16}_\w{36}/g, /eyJ[\w-]+\.[\w-]+\.[\w-]+/g]
/** Members of bodies that hold what a person has entered, or a secret. Shorter values could be in a text by chance. */
const PRIVATE_MEMBERS =
  /"(?:displayName|email|nationalId|line1|phoneNumber|secretKey)":"((?=[^"]*[@\d ])[^"\\]{10,})"/g
/** Sealed texts that clients carry: a key id, a dot and base64url. */
const SEALED_MEMBERS = /"(?:token|accessToken|requestToken|challengeToken)":"([\w-]+\.[\w-]{38,}|[\w-]{43})"/g

/** Remembers every credential and private text that went through a host, and everything that it said where none may be. */
export class Leaks {
  readonly #secrets = new Set<string>()
  readonly #said: string[] = []

  /** A request, or a success: it may hold credentials and private texts, which are secrets from now on. */
  exchanged(text: string): void {
    for (const pattern of CREDENTIALS)
      for (const [secret] of text.matchAll(pattern)) this.#secrets.add(secret)
    for (const pattern of [PRIVATE_MEMBERS, SEALED_MEMBERS])
      for (const [, secret] of text.matchAll(pattern)) this.#secrets.add(secret as string)
  }

  /** An error, a decision, a log or metrics: no secret may be in it. */
  said(text: string): void {
    this.#said.push(text)
  }

  /** Throws when anything said holds a secret, or the secret part of a credential. */
  check(): void {
    const all = this.#said.join('\n')
    for (const secret of this.#secrets) {
      if (all.includes(secretPart(secret))) throw new Error(`a secret was said: ${secret.slice(0, 20)}...`)
    }
  }
}

/** What identifies a key may be said; its last 36 characters, and a token's signature, may not. */
function secretPart(secret: string): string {
  if (secret.startsWith('gw_')) return secret.slice(-36)
  return secret.startsWith('eyJ') ? (secret.split('.')[2] as string) : secret
}

/** What went through hosts that are processes of their own, by URL. */
const processes = new Map<string, Leaks>()

/** Begins to remember what goes through a host process. */
export function watchForLeaks(url: string, leaks: Leaks = new Leaks()): Leaks {
  processes.set(url, leaks)
  return leaks
}

/** Reports a request and its response to the watch over a host process, if there is one. */
export function reportResponse(url: string, asked: string, status: number, responded: string): void {
  const leaks = processes.get(url)
  leaks?.exchanged(asked)
  if (status < 400) leaks?.exchanged(responded)
  else leaks?.said(responded)
}
