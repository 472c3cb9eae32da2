import { parseInstant } from '@gatewright/kernel/internal'
import { isChecksumAddress } from '../signatures/address.ts'
import { looksLikeField } from './plain-text.ts'
import { AUTHORITY, isIpLiteral, isUri } from './uri.ts'

/** The fields of a Sign-In with Ethereum message, as texts. Rendering them gives the same bytes. */
export interface Eip4361Message {
  readonly scheme?: string | undefined
  /** RFC 3986 authority without user information. */
  readonly domain: string
  /** With its EIP-55 checksum. */
  readonly address: string
  readonly statement?: string | undefined
  /**
   * RFC 3986 URI. It may contain user information; the verifier then denies it, because its authority differs from the
   * domain.
   */
  readonly uri: string
  /** Decimal, no leading zeros. */
  readonly chainId: string
  readonly nonce: string
  readonly issuedAt: string
  readonly expirationTime?: string | undefined
  readonly notBefore?: string | undefined
  readonly requestId?: string | undefined
  readonly resources?: readonly string[] | undefined
}

const FIRST = new RegExp(
  `^(?:([a-zA-Z][a-zA-Z0-9+.-]*)://)?(${AUTHORITY}) wants you to sign in with your Ethereum account:$`,
)
const STATEMENT = /^[\w.~:/?#[\]@!$&'()*+,;= -]+$/
const CHAIN_ID = /^(?:0|[1-9]\d{0,19})$/
const NONCE = /^[a-zA-Z0-9]{8,}$/
const REQUEST_ID = /^(?:[\w.~!$&'()*+,;=:@-]|%[0-9a-fA-F]{2})*$/

const isDateTime = (text: string): boolean => parseInstant(text) !== undefined

/** The lines after the statement: label, name, validity check, and whether the line is optional. */
const FIELDS: readonly [string, keyof Eip4361Message | 'version', (text: string) => boolean, boolean][] = [
  ['URI: ', 'uri', isUri, false],
  ['Version: ', 'version', text => text === '1', false],
  ['Chain ID: ', 'chainId', text => CHAIN_ID.test(text), false],
  ['Nonce: ', 'nonce', text => NONCE.test(text), false],
  ['Issued At: ', 'issuedAt', isDateTime, false],
  ['Expiration Time: ', 'expirationTime', isDateTime, true],
  ['Not Before: ', 'notBefore', isDateTime, true],
  ['Request ID: ', 'requestId', text => REQUEST_ID.test(text), true],
]

/**
 * Parses a message by the grammar of EIP-4361: every line in its place and nothing left over. Stricter than the EIP
 * where it allows two readings: checksummed address, no user information in the domain, no leading zeros in the chain
 * id, upper-case `T` and `Z`, no statement that contains the label of a field. Undefined for anything else.
 */
export function parseEip4361(text: string): Eip4361Message | undefined {
  const lines = text.split('\n')
  const first = FIRST.exec(lines[0] as string)
  const [, address = '', blank, fourth, fifth] = lines
  if (!first || !isChecksumAddress(address) || blank !== '') return undefined
  if (first[3] !== undefined && !isIpLiteral(first[3])) return undefined
  const found: Record<string, string> = { domain: first[2] as string, address }
  if (first[1] !== undefined) found['scheme'] = first[1]
  let at = 4
  if (fourth !== '') {
    if (fourth === undefined || fifth !== '' || !STATEMENT.test(fourth) || looksLikeField(fourth))
      return undefined
    found['statement'] = fourth
    at = 5
  }
  for (const [label, name, isValid, optional] of FIELDS) {
    const line = lines[at]
    if (line?.startsWith(label)) {
      const value = line.slice(label.length)
      if (!isValid(value)) return undefined
      if (name !== 'version') found[name] = value
      at++
    } else if (!optional) return undefined
  }
  let resources: string[] | undefined
  if (lines[at] === 'Resources:') {
    resources = lines.slice(at + 1).map(line => (line.startsWith('- ') ? line.slice(2) : ''))
    if (!resources.every(isUri)) return undefined
    at = lines.length
  }
  if (at !== lines.length) return undefined
  const message = { resources, ...found } as unknown as Eip4361Message
  return renderEip4361(message) === text ? message : undefined
}

/** Renders a message in the one format that `parseEip4361` accepts. It does not check the fields. */
export function renderEip4361(message: Eip4361Message): string {
  const { scheme, domain, address, statement, resources } = message
  const lines = [
    `${scheme === undefined ? '' : `${scheme}://`}${domain} wants you to sign in with your Ethereum account:`,
    address,
    '',
  ]
  if (statement !== undefined) lines.push(statement)
  lines.push('')
  const values: Readonly<Record<string, unknown>> = { ...message, version: '1' }
  for (const [label, name] of FIELDS) {
    const value = values[name]
    if (typeof value === 'string') lines.push(label + value)
  }
  if (resources) lines.push('Resources:', ...resources.map(resource => `- ${resource}`))
  return lines.join('\n')
}
