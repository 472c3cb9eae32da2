import { readFile } from 'node:fs/promises'
import { Fault, type Session, type Verdict } from '@gatewright/kernel'
import {
  createGuard,
  localKeys,
  remoteKeys,
  sessionReader,
  type GuardOptions,
  type KeySet,
} from '@gatewright/scope-guard'
import type { GuardDenial, PresetName } from '@gatewright/scope-guard/internal'
import {
  type CommandArguments,
  type CommandOutput,
  CommandError,
  type StartCommand,
  UsageError,
} from '@gatewright/host/cli'

type Options = CommandArguments['options']
type JsonMembers = Readonly<Record<string, unknown>>

/** The parts of a token that may be shown: everything but the signature. */
interface TokenParts {
  readonly header: JsonMembers | undefined
  readonly claims: JsonMembers | undefined
  readonly signatureCharacters: number
}

/** Explains why a guard denies a token. It needs no host and no stores. */
export const explainTokenCommand: StartCommand = {
  name: 'explain-token',
  takes: [],
  options: {
    file: 'read the token from this file; default: from the standard input',
    issuer: 'the issuer option of the guard',
    audience: 'the audience option of the guard',
    keys: 'URL or file of the key set; default: found from the metadata of the issuer',
    preset: 'the provider, as in sessionReader: auth0, keycloak, entra, cognito, clerk, supabase',
    typ: 'the typ option of the guard',
  },
  summary:
    'Say why a guard denies an access token; the token stays on this machine and its signature is not printed',
  example: '--file token.txt --issuer https://login.example.com --audience https://api.example',
  async start({ args: { options }, input }) {
    const { file } = options
    const text = file === undefined ? await input() : await readText(file)
    const token = text.trim().replace(/^(?:Bearer|DPoP) +/i, '')
    if (token === '')
      throw new UsageError('explain-token reads the token from the standard input or from --file')
    const parts = partsOf(token)
    return outputOf(parts, await verdictOf(token, options), options)
  },
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new CommandError(`cannot read ${file}: ${(error as Error).message}`)
  }
}

function partsOf(token: string): TokenParts {
  const [head = '', payload = '', signature = ''] = token.split('.')
  return { header: decode(head), claims: decode(payload), signatureCharacters: signature.length }
}

function decode(segment: string): JsonMembers | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonMembers)
      : undefined
  } catch {
    return undefined
  }
}

/** Returns the verdict of a guard with the given options; undefined without issuer and audience. */
async function verdictOf(
  token: string,
  options: Options,
): Promise<Verdict<Session, GuardDenial> | Fault | undefined> {
  const { issuer, audience, keys, preset, typ } = options
  if (issuer === undefined || audience === undefined) return undefined
  try {
    const guardOptions: GuardOptions = {
      issuer,
      audience,
      limits: [],
      failedCredentials: 'off',
      // No policy is read, so tokens without policies are explained, too.
      policies: async ids => ids.map(() => ({})),
      sessionPolicies: () => [],
      ...(keys === undefined ? {} : { keys: await keySource(keys) }),
      ...(preset === undefined
        ? {}
        : { readSession: sessionReader({ preset: preset as PresetName, policyIds: () => [] }) }),
      ...(typ === undefined ? {} : { typ }),
    }
    return await createGuard(guardOptions).authenticate({ authorization: `Bearer ${token}` })
  } catch (error) {
    if (error instanceof Fault) return error
    if (error instanceof TypeError) throw new UsageError(error.message)
    throw error
  }
}

async function keySource(keys: string): Promise<NonNullable<GuardOptions['keys']>> {
  if (/^https?:/.test(keys)) return remoteKeys(new URL(keys))
  const text = await readText(keys)
  try {
    return localKeys(JSON.parse(text) as KeySet)
  } catch (error) {
    throw new UsageError(`--keys ${keys} must be a JSON Web Key Set: ${(error as Error).message}`)
  }
}

function outputOf(
  parts: TokenParts,
  verdict: Awaited<ReturnType<typeof verdictOf>>,
  options: Options,
): CommandOutput {
  const { header, claims, signatureCharacters } = parts
  const shown = (value: JsonMembers | undefined): string =>
    value === undefined ? 'not a JSON object' : JSON.stringify(value, null, 2)
  const result = resultOf(parts, verdict, options)
  return {
    data: { header: header ?? null, claims: claims ?? null, ...result.data },
    lines: [
      `Header: ${shown(header)}`,
      `Claims: ${shown(claims)}`,
      `Signature: ${signatureCharacters} characters, not shown`,
      ...result.lines,
    ],
  }
}

interface Result {
  readonly data: object
  readonly lines: readonly string[]
}

const instant = (seconds: unknown): string =>
  typeof seconds === 'number' && Math.abs(seconds) < 8.64e12
    ? new Date(seconds * 1000).toISOString()
    : 'unknown'

function resultOf(
  parts: TokenParts,
  verdict: Awaited<ReturnType<typeof verdictOf>>,
  options: Options,
): Result {
  if (verdict === undefined) {
    const line = 'Not checked: give --issuer and --audience of the guard.'
    return { data: { accepted: null }, lines: [line] }
  }
  if (verdict instanceof Fault) {
    const line = `Not checked (503): ${verdict.message}`
    return { data: { accepted: null, fault: verdict.message }, lines: [line] }
  }
  if (verdict.ok) {
    const { accountId, keyId, scopes, expiresAt } = verdict.value
    const until = new Date(expiresAt).toISOString()
    return {
      data: { accepted: true, accountId, keyId, scopes, until },
      lines: [
        `Accepted until ${until}. Account: ${accountId}. Limits per key count: ${keyId}.`,
        `Scopes: ${scopes.join(' ') || 'none'}. A rule that needs another scope is answered 403 insufficient_scope.`,
      ],
    }
  }
  const { code, reason = code } = verdict
  const detail = detailOf(reason, parts, options)
  return {
    data: { accepted: false, code, reason, detail: detail ?? null },
    lines: [
      `Refused (${verdict.status} ${code}): ${reason}`,
      ...(detail === undefined ? [] : [detail]),
      'Checks run in the order of docs/401.md, which says what to do; later checks have not run.',
    ],
  }
}

/** Describes the expected value and that of the token, for the checks that depend on the options. */
function detailOf(reason: string, { header, claims }: TokenParts, options: Options): string | undefined {
  const expected = (want: unknown, got: unknown): string =>
    `Expected ${JSON.stringify(want)}, the token has ${JSON.stringify(got) ?? 'none'}.`
  switch (reason) {
    case 'wrong issuer':
      return expected(options['issuer'], claims?.['iss'])
    case 'wrong audience':
      return expected(options['audience'], claims?.['aud'])
    case 'wrong typ':
      return expected(
        options['typ'] ?? (options['preset'] ? `typ of ${options['preset']}` : 'at+jwt'),
        header?.['typ'],
      )
    case 'no kid':
      return `Without a kid, the key set must have exactly one key for the algorithm ${JSON.stringify(header?.['alg'])}.`
    case 'unknown key':
      return `The key set has no key for verification with the kid ${JSON.stringify(header?.['kid'])}.`
    case 'session_expired':
      return `It expired at ${instant(claims?.['exp'])}; it is ${new Date().toISOString()} here.`
    case 'not valid yet':
      return `It is valid from ${instant(claims?.['nbf'])} on; it is ${new Date().toISOString()} here.`
    case 'issued in the future':
      return `It was issued at ${instant(claims?.['iat'])}; it is ${new Date().toISOString()} here.`
    default:
      return undefined
  }
}
