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

/** What each cause means. A cause without an entry fails, and so does an entry of no cause. */
export const SENTENCES: Sentences = {
  ...ruleMeanings,
  // Reasons of tokens.
  'no credential': 'The request has no bearer token.',
  'token too long': 'The token is longer than `maxTokenBytes`.',
  'not a canonical compact JWS': 'The token is not a JWS in canonical compact form.',
  'unreadable header': 'The header of the token is not a JSON object.',
  'no kid': 'The header of the token names no key.',
  'crit header': 'The token requires extensions that are not supported.',
  'jwk header': 'The token contains a key (`jwk`) to verify itself with.',
  'jku header': 'The token contains a URL (`jku`) of keys to verify itself with.',
  'x5u header': 'The token contains a URL (`x5u`) of a certificate to verify itself with.',
  'x5c header': 'The token contains a certificate (`x5c`) to verify itself with.',
  'wrong typ': 'The `typ` of the token is not the expected one.',
  'claims are not a JSON object': 'The claims of the token cannot be read.',
  'wrong issuer': 'The `iss` of the token is not the expected one.',
  'wrong audience': 'The `aud` of the token does not name this API.',
  'no exp': 'The token has no `exp`, or one that is not a number.',
  'no iat': 'The token has no `iat`, or one that is not a number.',
  'issued in the future': 'The issue time of the token is in the future, by more than the tolerance.',
  'nbf must be a number': 'The `nbf` of the token is not a number.',
  'not valid yet': 'The token becomes valid in the future, by more than the tolerance.',
  'unknown key': 'There is no verification key with the `kid` of the token.',
  'the algorithm does not match the key': 'The `alg` of the token is not the algorithm of its key.',
  'invalid signature': 'The signature of the token is not valid.',
  'claims do not describe a session': 'The claims lack a member that a session needs.',
  'the token names no policies':
    'The token of another issuer names no policies, and the guard has policies but no `readSession` that names them.',
  'an id with a NUL or a lone surrogate': 'An id in the claims cannot be stored in every store.',
  'the token is bound in a way that is not supported':
    'The `cnf` of the token has no `jkt`. The guard cannot check other bindings, such as mutual TLS.',
  'the token is not bound, and its scheme is DPoP':
    'The request has the scheme `DPoP`, and the token has no `cnf.jkt`.',
  'the token is bound, and the guard has no dpop option':
    'The token is bound to a key, and the guard has no nonce storage to check proofs with.',
  'the token is not bound, and the guard requires it':
    'The token has no `cnf.jkt`, and the guard has the option `dpop.required`.',
  'the token is bound, and the request has no DPoP proof':
    'The token is bound to a key, and the request has no `DPoP` header.',
  'the token is bound, and its scheme is not DPoP': 'The token is bound to a key and was sent as `Bearer`.',
  'the guard was not given the method and a valid URL':
    'Your own caller of the guard passed no `method`, or no `url` with a path.',
  'more than one DPoP proof': 'The request has several `DPoP` headers.',
  'the DPoP proof is not a canonical compact JWS':
    'The proof is not a JWS in canonical compact form, or longer than 8192 characters.',
  'wrong typ of the DPoP proof': 'The `typ` of the proof is not `dpop+jwt`.',
  'crit header of the DPoP proof': 'The proof requires extensions that are not supported.',
  'the DPoP proof has no public key': 'The `jwk` of the proof is missing, malformed or a private key.',
  'the algorithm of the DPoP proof is not accepted':
    'The `alg` is symmetric, `none`, unknown or not that of its key, or the key is weak or over 4,096 bits.',
  'the DPoP proof lacks jti, htm, htu, iat or ath':
    'A required claim of the proof is missing or of another type.',
  'the DPoP proof is for another method': 'The `htm` of the proof is not the method of the request.',
  'the DPoP proof is for another URL':
    'The `htu` of the proof is not an origin of the option `dpop.origin` with the path of the request.',
  'the DPoP proof was issued in the future':
    'The `iat` of the proof is later than the time of the host, by more than the tolerance.',
  'the DPoP proof is too old': 'The `iat` of the proof is more than 60 s old.',
  'the DPoP proof is for another token': 'The `ath` of the proof is not the hash of this access token.',
  'the DPoP proof is by another key': 'The key of the proof is not the key that the token is bound to.',
  'the DPoP proof has no nonce of this API':
    'The guard has the option `dpop.nonceSecret`, and the proof has no `nonce`.',
  'the nonce of the DPoP proof is unknown or too old':
    'The `nonce` was issued with another secret, or 5 minutes ago or longer.',
  'invalid signature of the DPoP proof': 'The signature of the proof is not valid.',
  'the DPoP proof was used before': 'A proof with this `jti` by this key was accepted before.',
  revoked: 'The key or the session was revoked.',
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
  const undescribed = causes.filter(({ text }) => !Object.hasOwn(sentences, text) || sentences[text] === '')
  if (undescribed.length > 0) {
    throw new Error(`describe in test/workspace/causes.ts: ${undescribed.map(({ text }) => text).join(', ')}`)
  }
  const unsaid = Object.keys(sentences).filter(text => !causes.some(cause => cause.text === text))
  if (unsaid.length > 0) throw new Error(`no package says: ${unsaid.join(', ')}`)
  return causes
    .filter(({ kind, packages }) => kind === 'reason' && !packages.includes('scope-guard'))
    .map(({ text, packages }) => `| \`${text}\` | ${sentences[text]} | ${packages.join(', ')} |`)
}
