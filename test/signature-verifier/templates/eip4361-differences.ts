import { parseEip4361, renderEip4361, type Eip4361Message } from '@gatewright/signature-verifier'
import fc from 'fast-check'
import { parseSiweMessage } from 'viem/siwe'
import { eip4361Message } from '../arbitraries.ts'

/**
 * Kinds of messages that viem 2.57.1 accepts and this package rejects, each with its reason. Any other difference fails
 * the test below.
 */
const DIFFERENCES: readonly [string, (text: string) => boolean][] = [
  ['text after the last field: its pattern has no end anchor', text => parseUpTo(text)],
  [
    'a field twice: one is read and the other ignored',
    text =>
      /^((?:URI|Version|Chain ID|Nonce|Issued At|Expiration Time|Not Before|Request ID|Resources):).*\n(?:.*\n)*\1/m.test(
        text,
      ),
  ],
  [
    'a statement of characters that the EIP does not allow',
    text => !/^[\x20-\x7e\n]*$/.test(text) || /["%<>\\^`{|}]/.test(statementOf(text)),
  ],
  [
    'a field inside the statement',
    text =>
      /\b(URI|Version|Chain ID|Nonce|Issued At|Not Before|Resources|Request ID|Expiration Time|Address|Domain|Request|Expires At):/.test(
        statementOf(text),
      ),
  ],
  [
    'fields between statement and URI: its two patterns need not meet',
    text => !/^[^\n]*\n[^\n]*\n\n(?:[^\n]+\n)?\nURI: /.test(text),
  ],
  [
    'a domain without characters or with user information',
    text =>
      !/^(?:[a-z+.-]+:\/\/)?(?:(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+|\[[0-9a-f:.]+\])(?::\d{1,5})? wants/i.test(
        text,
      ),
  ],
  [
    'an address without its checksum',
    text => text.split('\n')[1] !== '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
  ],
  ['any version', text => !/\nVersion: 1\n/.test(text)],
  ['a chain id with leading zeros or over 20 digits', text => /\nChain ID: (?:0\d|\d{21})/.test(text)],
  ['a nonce under 8 characters', text => !/\nNonce: [a-zA-Z0-9]{8,}\n/.test(text)],
  [
    'a URI or resource with any characters',
    text => [...text.matchAll(/^(?:URI: |- )(.*)$/gm)].some(([, uri]) => !isUri(uri as string)),
  ],
  [
    'a date that is none',
    text =>
      [...text.matchAll(/^(?:Issued At|Expiration Time|Not Before): (.*)$/gm)].some(
        ([, date]) => !isDate(date as string),
      ),
  ],
  [
    'a request id of any characters',
    text =>
      /^Request ID: .*[^\w.~!$&'()*+,;=:@%-]/m.test(text) || /^Request ID: .*%(?![0-9a-f]{2})/im.test(text),
  ],
]
const statementOf = (text: string): string => text.split('\n')[3] ?? ''

/**
 * Whether a text is a URI (RFC 3986), checked in another way than the parser does: split as in its appendix B, then
 * part by part.
 */
export function isUri(text: string): boolean {
  const [, scheme, , authority, path = '', , query = '', , fragment = ''] =
    /^(?:([^:/?#]+):)?(\/\/([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?$/s.exec(text) ?? []
  const isOf = (part: string, characters: string): boolean =>
    /^[^%]*(?:%[0-9a-f]{2}[^%]*)*$/i.test(part) &&
    [...part].every(
      character => /[a-z0-9]/i.test(character) || `-._~!$&'()*+,;=%${characters}`.includes(character),
    )
  return (
    /^[a-z][a-z0-9+.-]*$/i.test(scheme ?? '') &&
    (authority === undefined || isAuthority(authority, isOf)) &&
    isOf(path, ':@/') &&
    isOf(query, ':@/?') &&
    isOf(fragment, ':@/?')
  )
}

function isAuthority(authority: string, isOf: (part: string, characters: string) => boolean): boolean {
  const at = authority.indexOf('@')
  const rest = authority.slice(at + 1)
  const [, literal, name = '', port = ''] = /^(?:\[(.*)\]|([^:]*))(?::(.*))?$/s.exec(rest) ?? [undefined, '']
  const isHost = literal === undefined ? isOf(name, '') : isIpLiteral(literal)
  return isHost && (at < 0 || isOf(authority.slice(0, at), ':')) && /^\d*$/.test(port)
}

const isIpLiteral = (text: string): boolean =>
  /^v[0-9a-f]+\.[\w.~!$&'()*+,;=:-]+$/i.test(text) ||
  (/^[0-9a-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`))
const isDate = (date: string): boolean =>
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/.test(date) &&
  !Number.isNaN(Date.parse(date)) &&
  new Date(`${date.slice(0, 19)}Z`).toISOString().slice(0, 19) === date.slice(0, 19)
/** Whether lines remain that belong to no field. */
const parseUpTo = (text: string): boolean =>
  !/\nIssued At: .*(?:\nExpiration Time: .*)?(?:\nNot Before: .*)?(?:\nRequest ID: .*)?(?:\nResources:(?:\n- .+)*)?$/.test(
    text,
  )

/** The fields that viem parses, when they include everything that a verifier needs. */
function byViem(text: string): ReturnType<typeof parseSiweMessage> | undefined {
  const read = parseSiweMessage(text)
  const whole = read.domain !== undefined && read.address && read.uri && read.version && read.nonce
  return whole && read.chainId !== undefined && read.issuedAt ? read : undefined
}

const PIECES = [
  '\n',
  ' ',
  '\r',
  '\ufeff',
  '\u00a0',
  '0',
  '%',
  '#',
  '[',
  ']',
  '@',
  '"',
  ':',
  '- ',
  'a',
  'URI: https://evil.example',
  'Version: 1',
  'Nonce: abcdefgh',
  'Issued At: 2026-01-01T00:00:00Z',
  'Resources:',
  'Request ID: x',
  '\nChain ID: 5',
  'Expiration Time: 2099-01-01T00:00:00Z',
]
/** A valid message with a piece inserted, removed, doubled or exchanged somewhere. */
const mutated = fc
  .tuple(eip4361Message, fc.nat(), fc.nat(60), fc.constantFrom(...PIECES), fc.nat(4))
  .map(([message, at, length, piece, how]) => {
    const text = renderEip4361({ ...message, address: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2' })
    const lines = text.split('\n')
    const [index, line] = [at % text.length, at % lines.length]
    if (how === 4) return text
    if (how === 0) return text.slice(0, index) + piece + text.slice(index)
    if (how === 1) return text.slice(0, index) + text.slice(index + 1 + (length % 8))
    if (how === 2) return lines.toSpliced(line, 0, lines[length % lines.length] as string).join('\n')
    return lines.toSpliced(line, 1, piece).join('\n')
  })

/**
 * A message that only this package accepts: viem's domain pattern lacks `[`, `_`, `~` and others, so it finds no
 * domain.
 */
const viemRejects = ({ domain }: Eip4361Message): boolean =>
  !/^[a-zA-Z0-9+,.-]*(?::[0-9]{1,5})?$/.test(domain)

/** Whether two parsers found the same fields. */
function same(theirs: ReturnType<typeof parseSiweMessage>, ours: Eip4361Message): boolean {
  return (
    theirs.domain === ours.domain &&
    theirs.address === ours.address &&
    theirs.nonce === ours.nonce &&
    theirs.uri === ours.uri &&
    theirs.chainId === Number(ours.chainId) &&
    (theirs.statement ?? '') === (ours.statement ?? '') &&
    (theirs.requestId ?? '') === (ours.requestId ?? '') &&
    (theirs.resources ?? []).join() === (ours.resources ?? []).join()
  )
}

/**
 * Parses `runs` altered messages with both parsers. Throws for a message that viem accepts and this package rejects for
 * no known reason, that this package accepts and viem rejects for another reason than its domain pattern, or whose
 * fields differ. Returns how often each kind of difference occurred, and how many messages both accepted.
 */
export function compareWithViem(runs: number): { kinds: Map<string, number>; both: number } {
  const kinds = new Map<string, number>()
  let both = 0
  fc.assert(
    fc.property(mutated, text => {
      const [ours, theirs] = [parseEip4361(text), byViem(text)]
      if (!ours && theirs) {
        const kind = DIFFERENCES.find(([, holds]) => holds(text))?.[0]
        if (kind !== undefined) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
        return kind !== undefined
      }
      if (!ours) return true
      both++
      return theirs ? same(theirs, ours) : viemRejects(ours)
    }),
    { numRuns: runs },
  )
  return { kinds, both }
}
