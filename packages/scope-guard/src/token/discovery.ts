import { Fault } from '@gatewright/kernel'
import type { JWK } from 'jose'
import { createCachedKeys } from './cached-keys.ts'
import { fetchJson } from './fetch-json.ts'
import { findKey } from './key-rules.ts'
import { assertKeyUrl, isLoopback } from './key-url.ts'
import { checkedRemoteOptions, type KeySource, type RemoteKeysOptions } from './keys.ts'

/**
 * Makes a source of the keys of an issuer, found from its metadata: OpenID Connect Discovery, else RFC 8414. The metadata must
 * name exactly this issuer. Metadata and key set are fetched for the first token and used for `maxAgeMs`. After half of that
 * time, a request starts a fetch in the background. A key id that is not in the set causes a fetch, at most once per
 * `cooldownMs`, and the request waits for it. An RSA key without `alg` is used with the RSA algorithm of the metadata, if the
 * metadata names exactly one. Faults (`ERR_KEYS_UNAVAILABLE`, 503) name the URL and the cause. Throws a `TypeError` unless the
 * issuer is an `https:` URL without query and fragment, or `http:` as in `remoteKeys`.
 */
export function discoverKeys(issuer: string, options: RemoteKeysOptions = {}): KeySource {
  return issuerKeys('discoverKeys', issuer, options, true)
}

/** Implements `discoverKeys`. With `namesAlgorithm`, the metadata decides the algorithm of RSA keys without `alg`. */
export function issuerKeys(
  where: string,
  issuer: string,
  options: RemoteKeysOptions,
  namesAlgorithm: boolean,
): KeySource {
  const { maxAgeMs, cooldownMs, timeoutMs, allowHttp } = checkedRemoteOptions(where, options)
  const url = issuerUrl(where, issuer, allowHttp)
  // A load makes at most three fetches in sequence: two metadata URLs, then the key set. The fourth `timeoutMs` is a reserve.
  const maxLoadMs = 4 * timeoutMs
  const cached = createCachedKeys(
    () => loadKeys({ issuer, url, timeoutMs, allowHttp, namesAlgorithm }),
    maxLoadMs,
  )
  const all = async (): Promise<readonly JWK[]> => {
    const age = cached.ageMs()
    if (age >= maxAgeMs) await cached.load()
    else if (age >= maxAgeMs / 2) cached.refresh(cooldownMs)
    return cached.keys()
  }
  const byId = async (kid: string): Promise<JWK | undefined> => {
    const key = findKey(await all(), kid)
    if (key || cached.ageMs() < cooldownMs) return key
    await cached.load()
    return findKey(cached.keys(), kid)
  }
  return Object.assign(byId, { all })
}

function issuerUrl(where: string, issuer: string, allowHttp: boolean): URL {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  if (!url || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new TypeError(
      `${where}: issuer must be an https: URL without query and fragment, whose metadata names its keys, got ${JSON.stringify(issuer)}: correct it, or set keys`,
    )
  }
  assertKeyUrl(where, url, allowHttp)
  return url
}

interface LoadOptions {
  readonly issuer: string
  readonly url: URL
  readonly timeoutMs: number
  readonly allowHttp: boolean
  readonly namesAlgorithm: boolean
}

async function loadKeys(options: LoadOptions): Promise<readonly JWK[]> {
  const metadata = await findMetadata(options)
  const keysUrl = keySetUrl(metadata, options)
  const { keys } = await fetchJson(keysUrl, options.timeoutMs).catch((cause: unknown) =>
    unavailable(`the key set of the issuer: ${(cause as Error).message}`, cause),
  )
  if (!Array.isArray(keys) || !keys.every(key => typeof key === 'object' && key !== null))
    return unavailable(`the key set of the issuer: ${keysUrl.href}: the response is not a key set`)
  const rsaAlgorithm = options.namesAlgorithm ? onlyRsaAlgorithm(metadata.document) : undefined
  return (keys as JWK[]).map(key =>
    Object.freeze(
      key.kty === 'RSA' && key.alg === undefined && rsaAlgorithm !== undefined
        ? { ...key, alg: rsaAlgorithm }
        : { ...key },
    ),
  )
}

function unavailable(what: string, cause?: unknown): never {
  throw new Fault('ERR_KEYS_UNAVAILABLE', what, { cause })
}

interface Metadata {
  readonly from: URL
  readonly document: Readonly<Record<string, unknown>>
}

/** The addresses of an issuer's metadata: OpenID Connect Discovery 1.0 section 4, RFC 8414 section 3.1. */
function metadataUrls(issuer: URL): readonly [openid: URL, oauth: URL] {
  const path = issuer.pathname.replace(/\/$/, '')
  const at = (pathname: string): URL => Object.assign(new URL(issuer), { pathname })
  return [
    at(`${path}/.well-known/openid-configuration`),
    at(`/.well-known/oauth-authorization-server${path}`),
  ]
}

async function findMetadata({ issuer, url, timeoutMs }: LoadOptions): Promise<Metadata> {
  const failures: string[] = []
  for (const from of metadataUrls(url)) {
    let document: Metadata['document']
    try {
      document = await fetchJson(from, timeoutMs)
    } catch (error) {
      failures.push((error as Error).message)
      continue
    }
    const { issuer: named } = document
    if (named === issuer) return { from, document }
    unavailable(
      `the metadata of the issuer: ${from.href} must name the issuer ${JSON.stringify(issuer)}, got ${JSON.stringify(named)}: set the option issuer to what the tokens say in iss`,
    )
  }
  return unavailable(`the metadata of the issuer: ${failures.join('; ')}`)
}

/** Reads `jwks_uri`. It may be on another host, but not plain `http:` if the issuer is `https:`. */
function keySetUrl({ from, document }: Metadata, { url, allowHttp }: LoadOptions): URL {
  const { jwks_uri } = document
  const named = typeof jwks_uri === 'string' && URL.canParse(jwks_uri) ? new URL(jwks_uri) : undefined
  if (!named) return unavailable(`the metadata of the issuer: ${from.href} must name a jwks_uri`)
  const isAllowed =
    named.protocol === 'https:' ||
    (named.protocol === 'http:' && url.protocol === 'http:' && (allowHttp || isLoopback(named)))
  return isAllowed
    ? named
    : unavailable(`the metadata of the issuer: ${from.href} names ${named.href}, which is not https:`)
}

/** Returns the RSA algorithm of the metadata if it names exactly one. */
function onlyRsaAlgorithm({
  id_token_signing_alg_values_supported: named,
}: Metadata['document']): string | undefined {
  const algorithms = (Array.isArray(named) ? named : []).filter(
    (alg): alg is string => typeof alg === 'string' && /^[RP]S(?:256|384|512)$/.test(alg),
  )
  return algorithms.length === 1 ? algorithms[0] : undefined
}
