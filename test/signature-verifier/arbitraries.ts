import type { Eip4361Message } from '@gatewright/signature-verifier'
import fc from 'fast-check'
import { getAddress } from 'viem/utils'

const from = (alphabet: string, minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...Array.from(alphabet)), minLength, maxLength })

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const UNRESERVED = `${LETTERS}0123456789-._~`
const SUB_DELIMS = "!$&'()*+,;="

/** A checksummed address. */
export const address: fc.Arbitrary<`0x${string}`> = from('0123456789abcdef', 40, 40).map(digits =>
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

const uri = fc
  .tuple(
    from('abcxyz', 1, 6),
    from(`${UNRESERVED}${SUB_DELIMS}:@/?#[]`, 0, 30),
    fc.constantFrom('', '%20', '%C3%A4'),
  )
  .map(([scheme, rest, escaped]) => `${scheme}:${rest}${escaped}`)

/** Statements of the EIP's characters, without anything like a field in them. */
const statement = from(`${UNRESERVED}${SUB_DELIMS}/?#[]@ `, 1, 60)

/** Messages that the grammar accepts. */
export const eip4361Message: fc.Arbitrary<Eip4361Message> = fc
  .record(
    {
      scheme: fc.constantFrom('https', 'http', 'wallet+app'),
      domain: fc.constantFrom('app.example.com', 'localhost:3000', '127.0.0.1', '[::1]:8443', 'a_b.example'),
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
