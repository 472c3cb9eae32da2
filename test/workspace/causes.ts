import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { ruleMeanings } from '#packages/reference-host/dist/product/errors.js'
import { packageNames } from './tree.ts'

/** One cause of a denial: a `rule` in a response or a `reason` in a decision event. */
export interface Cause {
  readonly kind: 'rule' | 'reason'
  readonly text: string
  readonly packages: readonly string[]
}

type Sentences = Readonly<Record<string, string>>

/** What each cause means, but why a token is denied, which docs/401.md says. A cause without an entry fails, and so does an entry of no cause. */
export const SENTENCES: Sentences = {
  ...ruleMeanings,
  // Reasons of keys.
  'not a key of this environment and surface':
    'The text is not a key, or it is a key of another environment or surface.',
  'no such key': 'No key has this id.',
  'wrong secret, or its pepper was removed':
    'The secret does not match; or the key has ended, and its pepper is not configured.',
  'the key has expired': 'The key is past its `expiresAt`.',
  'its key has changed or ended':
    'The key of the caller was changed, revoked or expired since it was presented.',
  'the key or session has ended': 'The key or session that requests a session has ended.',
  'the session would end within this second': 'The new session would end before it begins.',
  'the parent session was revoked': 'The requesting session was revoked while the new one was created.',
  // Reasons of wallet proofs.
  expired: 'The statement is past its `expiresAt`.',
  'expired while waiting': 'The statement expired while its signature waited to be checked.',
  'message and request differ in {field}':
    'The signed message differs from the request or the host; `{field}` names the first such field.',
  'malformed ERC-6492 wrapper, or one inside another':
    'The signature is wrapped in a way that ERC-6492 does not allow.',
  'not signed by this key': 'The signature is not by the key of the address.',
  'signed by this key, in a form that is not accepted':
    'The key of the address signed in a form that is not documented.',
  'not signed by this key, nor by a contract wallet':
    'Neither the key nor the contract of the address accepts the signature.',
  'challenge unknown, expired or used before':
    'This host issued no such challenge, or it has expired or was consumed.',
  'nonce used before': 'The nonce was used before by this address.',
  'issued before the nonces were restored':
    'The database of the host was restored after the statement was issued, and no longer knows whether it was used.',
  'too many signature checks waiting for this address bucket':
    'As many signature checks of the client address are waiting as may.',
}

/** The lists in the built files of a package that hold lists; empty where it has none. */
export interface CodeLists {
  readonly codes?: Readonly<Record<string, number>>
  readonly rules?: readonly string[]
  readonly reasons?: readonly string[]
}

/** Loads the lists of a package. */
export async function codeLists(name: string): Promise<CodeLists> {
  const lists: CodeLists = {}
  for (const path of ['codes.js', 'http/codes.js', 'product/denials.js']) {
    const file = `packages/${name}/dist/${path}`
    if (existsSync(file)) Object.assign(lists, await import(pathToFileURL(file).href))
  }
  return lists
}

/** Every listed cause with the packages that say it: rules first, each kind in the order of the packages' lists. */
export async function allCauses(): Promise<readonly Cause[]> {
  const found: { kind: Cause['kind']; text: string; packages: string[] }[] = []
  const lists = await Promise.all(packageNames().map(async name => [name, await codeLists(name)] as const))
  for (const kind of ['rule', 'reason'] as const) {
    for (const [name, { rules = [], reasons = [] }] of lists) {
      for (const text of kind === 'rule' ? rules : reasons) {
        const known = found.find(cause => cause.kind === kind && cause.text === text)
        if (known) known.packages.push(name)
        else found.push({ kind, text, packages: [name] })
      }
    }
  }
  return found
}

/** The rows of the reasons in docs/errors.md: why a token is denied is in docs/401.md, and rules have sections. Throws for a cause without a sentence, and for a sentence of no cause. */
export function causeRows(causes: readonly Cause[], sentences: Sentences = SENTENCES): string[] {
  const listed = causes.filter(({ kind, packages }) => kind === 'rule' || !packages.includes('scope-guard'))
  const undescribed = listed.filter(({ text }) => !Object.hasOwn(sentences, text) || sentences[text] === '')
  if (undescribed.length > 0) {
    throw new Error(`describe in test/workspace/causes.ts: ${undescribed.map(({ text }) => text).join(', ')}`)
  }
  const unsaid = Object.keys(sentences).filter(text => !listed.some(cause => cause.text === text))
  if (unsaid.length > 0) throw new Error(`no package says: ${unsaid.join(', ')}`)
  return listed
    .filter(({ kind }) => kind === 'reason')
    .map(({ text, packages }) => `| \`${text}\` | ${sentences[text]} | ${packages.join(', ')} |`)
}
