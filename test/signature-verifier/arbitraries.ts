import type { Eip4361Message } from '@gatewright/signature-verifier'
import fc from 'fast-check'
import { getAddress } from 'viem/utils'

const from = (alphabet: string, minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...Array.from(alphabet)), minLength, maxLength })

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const UNRESERVED = `${LETTERS}0123456789-._~`
const SUB_DELIMS = "!$&'()*+,;="

/** A checksummed address. */
const address: fc.Arbitrary<`0x${string}`> = from('0123456789abcdef', 40, 40).map(digits =>
  getAddress(`0x${digits}`),
)

/** An RFC 3339 date-time, in UTC or with an offset, with or without a fraction. */
export const dateTime: fc.Arbitrary<string> = fc
  .tuple(
    fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }),
    fc.constantFrom('Z', '+00:00', '-07:30', '+13:45'),
    fc.constantFrom('', '.0', '.123', '.123456789'),
  )
  .map(([date, zone, fraction]) => `${date.toISOString().slice(0, 19)}${fraction}${zone}`)

const characters = from(`${UNRESERVED}${SUB_DELIMS}`, 0, 10)
const optional = (arbitrary: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(fc.constant(''), arbitrary)
const segments = from(`${UNRESERVED}${SUB_DELIMS}:@/`, 0, 15)
const authority = fc
  .tuple(
    optional(characters.map(user => `${user}:@`)),
    fc.oneof(
      characters,
      fc.constantFrom('[::1]', '[2001:db8::7]', '[::ffff:192.0.2.1]', '[v1.fe80::a+en1]', '%C3%A4.example'),
    ),
    optional(fc.nat(65_535).map(port => `:${port}`)),
    optional(segments.map(path => `/${path}`)),
  )
  .map(([user, host, port, path]) => `//${user}${host}${port}${path}`)
/** A path without an authority before it: it may not begin with two slashes. */
const pathAlone = segments.map(path => path.replace(/^\/{2,}/, '/'))
const queryPart = from(`${UNRESERVED}${SUB_DELIMS}:@/?`, 0, 10)

/** A URI by the grammar of RFC 3986. */
const uri = fc
  .tuple(
    from('abcxyz', 1, 6),
    fc.oneof(authority, pathAlone),
    fc.constantFrom('', '%20', '%C3%A4'),
    optional(queryPart.map(query => `?${query}`)),
    optional(queryPart.map(fragment => `#${fragment}`)),
  )
  .map(([scheme, rest, escaped, query, fragment]) => {
    const path = rest.startsWith('//') && !rest.slice(2).includes('/') ? `${rest}/` : rest
    return `${scheme}:${path}${escaped}${query}${fragment}`
  })

/** Statements of the EIP's characters, without anything like a field in them. */
const statement = from(`${UNRESERVED}${SUB_DELIMS}/?#[]@ `, 1, 60)

/** Messages that the grammar accepts. */
export const eip4361Message: fc.Arbitrary<Eip4361Message> = fc
  .record(
    {
      scheme: fc.constantFrom('https', 'http', 'wallet+app'),
      domain: fc.constantFrom(
        'app.example.com',
        'localhost:3000',
        '127.0.0.1',
        '[::1]:8443',
        'a_b.example',
        'a%20b',
      ),
      address,
      statement,
      uri,
      chainId: fc.nat().map(String),
      nonce: from(`${LETTERS}0123456789`, 8, 40),
      issuedAt: dateTime,
      expirationTime: dateTime,
      notBefore: dateTime,
      requestId: from(`${UNRESERVED}${SUB_DELIMS}:@`, 0, 20),
      resources: fc.array(uri, { maxLength: 4 }),
    },
    { requiredKeys: ['domain', 'address', 'uri', 'chainId', 'nonce', 'issuedAt'] },
  )
  .map(message => message as Eip4361Message)
