import { readFileSync } from 'node:fs'
import { parseEip4361, renderEip4361, type Eip4361Message } from '@gatewright/signature-verifier'
import fc from 'fast-check'
import t from 'tap'
import { createSiweMessage, parseSiweMessage } from 'viem/siwe'
import { randomCases } from '../../harness/random-cases.ts'
import { eip4361Message } from '../arbitraries.ts'
import { compareWithViem, isUri } from './eip4361-differences.ts'

const MESSAGE: Eip4361Message = {
  domain: 'app.example.com',
  address: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
  statement: 'I accept the terms: https://app.example.com/tos',
  uri: 'https://app.example.com/login',
  chainId: '1',
  nonce: '32891756abc',
  issuedAt: '2026-01-01T00:00:00Z',
  expirationTime: '2026-01-01T00:05:00Z',
  notBefore: '2026-01-01T00:00:00Z',
  requestId: 'request-1',
  resources: ['ipfs://bafybeiemxf5abjwjbikoz4mc3a3dla6ual3jsgpdr4cjr3oz3evfyavhwq/', 'https://example.com/a'],
}
const TEXT = renderEip4361(MESSAGE)

t.test('parses every field of a message and renders the same bytes', async t => {
  t.same(parseEip4361(TEXT), MESSAGE)
})

t.test('law: it parses every message that it renders, whatever the fields', async t => {
  fc.assert(
    fc.property(eip4361Message, message => {
      const text = renderEip4361(message)
      const parsed = parseEip4361(text)
      return (
        parsed !== undefined &&
        renderEip4361(parsed) === text &&
        JSON.stringify(sorted(parsed)) === JSON.stringify(sorted(message))
      )
    }),
    { numRuns: randomCases(500) },
  )
  t.pass('for 500 messages')
})

function sorted(message: object): unknown[] {
  return Object.entries(message)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

t.test('law: a changed character gives other fields or no fields, never the same', async t => {
  fc.assert(
    fc.property(eip4361Message, fc.nat(), fc.integer({ min: 0, max: 0x10ff }), (message, at, code) => {
      const text = renderEip4361(message)
      const index = at % text.length
      const changed = text.slice(0, index) + String.fromCharCode(code) + text.slice(index + 1)
      const parsed = parseEip4361(changed)
      return parsed === undefined || renderEip4361(parsed) === changed
    }),
    { numRuns: randomCases(2000) },
  )
  t.pass('for 2000 changes')
})

t.test('parses messages rendered by viem, with and without optional parts', async t => {
  const { resources, ...rest } = MESSAGE
  const [issuedAt, expirationTime] = [new Date(MESSAGE.issuedAt), new Date('2026-01-01T00:05:00Z')]
  const fields = { ...rest, address: MESSAGE.address as `0x${string}`, chainId: 1, version: '1' } as const
  const dates = { issuedAt, expirationTime, notBefore: issuedAt }
  const [all, bare] = [
    { ...fields, ...dates, resources: [...(resources ?? [])] },
    { ...fields, ...dates },
  ]
  t.same(parseEip4361(createSiweMessage(all))?.resources, resources)
  t.ok(parseEip4361(createSiweMessage({ ...bare, statement: '' })))
  t.ok(parseEip4361(createSiweMessage({ ...bare, scheme: 'https' })))
})

t.test('rejects every altered spelling of a valid message', async t => {
  const bent: [string, string][] = [
    ['CR LF', TEXT.replaceAll('\n', '\r\n')],
    ['one CR', TEXT.replace('\n', '\r\n')],
    ['BOM', `\ufeff${TEXT}`],
    ['NBSP', TEXT.replace('Chain ID: ', 'Chain\u00a0ID: ')],
    ['NBSP in the statement', TEXT.replace('the terms', 'the\u00a0terms')],
    ['trailing newline', `${TEXT}\n`],
    ['trailing space', `${TEXT} `],
    ['trailing text', `${TEXT}\nmore`],
    ['leading newline', `\n${TEXT}`],
    ['duplicated line', TEXT.replace('Version: 1\n', 'Version: 1\nVersion: 1\n')],
    ['duplicated nonce', TEXT.replace('Issued At', 'Nonce: otherother\nIssued At')],
    ['reordered lines', TEXT.replace('Version: 1\nChain ID: 1', 'Chain ID: 1\nVersion: 1')],
    ['reordered optional lines', TEXT.replace(/(Expiration Time: .*)\n(Not Before: .*)/, '$2\n$1')],
    ...['URI', 'Version', 'Chain ID', 'Nonce', 'Issued At'].map((label): [string, string] => [
      `missing ${label}`,
      TEXT.replace(new RegExp(`\\n${label}: .*`), ''),
    ]),
    ['label in another case', TEXT.replace('Chain ID', 'Chain Id')],
    ['version 2', TEXT.replace('Version: 1', 'Version: 2')],
    ['two spaces', TEXT.replace('Nonce: ', 'Nonce:  ')],
    ['a tab', TEXT.replace('Nonce: ', 'Nonce:\t')],
    ['NUL in the statement', TEXT.replace('terms', 'ter\u0000ms')],
    ['field block as statement', TEXT.replace(/\nI accept.*\n/, '\nURI: https://evil.example\n')],
    ['field inside the statement', TEXT.replace('the terms:', 'it. Nonce: abcdefgh')],
    ['two statements', TEXT.replace(/(I accept.*)\n/, '$1\n$1\n')],
    ['empty statement line too many', TEXT.replace(/\n(I accept.*)\n/, '\n\n$1\n')],
    ['non-ASCII statement', TEXT.replace('terms', 'termş')],
    ['lower-case address', TEXT.replace(MESSAGE.address, MESSAGE.address.toLowerCase())],
    ['wrong checksum', TEXT.replace('0xC02a', '0xc02a')],
    ['leading zero in the chain id', TEXT.replace('Chain ID: 1', 'Chain ID: 01')],
    ['short nonce', TEXT.replace('32891756abc', 'short12')],
    ['nonce with a dash', TEXT.replace('32891756abc', '32891756-abc')],
    ['day that is not there', TEXT.replace('2026-01-01T00:05:00Z', '2026-02-30T00:05:00Z')],
    ['relative URI', TEXT.replace('URI: https://app.example.com/login', 'URI: /login')],
    ['broken escape', TEXT.replace('URI: https://app.example.com/login', 'URI: https://a.example/%zz')],
    ['two fragments', TEXT.replace('/login', '/login#one#two')],
    ['a fragment within a fragment of a resource', TEXT.replace('com/a', 'com/a#one?two#three')],
    ['brackets in the path', TEXT.replace('/login', '/[login]')],
    ['brackets in the query', TEXT.replace('/login', '/login?a[]=1')],
    ['brackets in the fragment', TEXT.replace('/login', '/login#[1]')],
    ['a bracket in a resource', TEXT.replace('com/a', 'com/]')],
    [
      'brackets around a name',
      TEXT.replace('URI: https://app.example.com', 'URI: https://[app.example.com]'),
    ],
    ['text before an IP literal', TEXT.replace('URI: https://app.example.com', 'URI: https://app[::1]')],
    ['text behind an IP literal', TEXT.replace('URI: https://app.example.com', 'URI: https://[::1]app')],
    ['an IP literal without end', TEXT.replace('URI: https://app.example.com', 'URI: https://[::1')],
    ['no address in the literal', TEXT.replace('URI: https://app.example.com', 'URI: https://[::::]')],
    ['an empty literal', TEXT.replace('URI: https://app.example.com', 'URI: https://[]')],
    ['an IP literal with a zone', TEXT.replace('URI: https://app.example.com', 'URI: https://[fe80::1%25a]')],
    ['letters as port', TEXT.replace('URI: https://app.example.com', 'URI: https://app.example.com:http')],
    ['two ats before the host', TEXT.replace('URI: https://app', 'URI: https://a@b@app')],
    ['no address in the literal of the domain', TEXT.replace('app.example.com wants', '[1:2] wants')],
    ['a broken escape in the domain', TEXT.replace('app.example.com wants', 'app%zz wants')],
    ['user information', TEXT.replace('app.example.com wants', 'app.example.com@evil.example wants')],
    ['empty resource', `${TEXT}\n- `],
    ['resource without dash', `${TEXT}\nhttps://example.com`],
  ]
  for (const [name, text] of bent) {
    t.not(text, TEXT, `${name}: the case changes something`)
    t.equal(parseEip4361(text), undefined, name)
  }
})

t.test('accepts IP literals as host of URI, resource and domain', async t => {
  for (const host of ['[::1]', '[2001:DB8::1]:8443', '[::ffff:192.0.2.1]', '[v1.fe80::a+en1]']) {
    const message = {
      ...MESSAGE,
      domain: host,
      uri: `https://${host}/a?b#c`,
      resources: [`ftp://me@${host}`],
    }
    t.same(parseEip4361(renderEip4361(message)), message)
  }
})

t.test('law: accepts exactly the URIs of RFC 3986', async t => {
  const piece = fc.constantFrom(
    'a',
    '1',
    ':',
    '/',
    '//',
    '?',
    '#',
    '[',
    ']',
    '@',
    '%',
    '%2f',
    '.',
    'v1.',
    '[::1]',
    '[v1.a]',
    '!',
    'x:',
  )
  const start = fc.constantFrom('', 'a:', 'https://', 'https://a', 'https://[::1]')
  let good = 0
  fc.assert(
    fc.property(start, fc.array(piece, { maxLength: 8 }), (scheme, pieces) => {
      const uri = scheme + pieces.join('')
      const isRead = parseEip4361(renderEip4361({ ...MESSAGE, uri })) !== undefined
      if (isRead) good++
      return isRead === isUri(uri)
    }),
    { numRuns: randomCases(5000) },
  )
  t.ok(good > 0, `${good} are URIs`)
})

t.test('differs from viem only in known ways, and parses the same fields where both accept', async t => {
  const { kinds, both } = compareWithViem(5000)
  t.ok(both > 0, `both accepted ${both}`)
  t.ok(kinds.size > 1, [...kinds].map(([kind, count]) => `${count} x ${kind}`).join('; '))
})

t.test("rejects messages that spoof viem's parser", async t => {
  const fake =
    'URI: https://evil.example\nVersion: 1\nChain ID: 1\nNonce: attackernonce\nIssued At: 2026-01-01T00:00:00Z'
  const { statement: _, ...bare } = MESSAGE
  const spoofed = renderEip4361(bare).replace('\n\n\nURI', `\n\n${fake}\n\nURI`)
  t.equal(parseSiweMessage(spoofed).nonce, 'attackernonce', 'viem reads the block in the statement')
  t.equal(parseEip4361(spoofed), undefined)
})

interface Vectors {
  readonly base: readonly string[]
  readonly accepted: Changes
  readonly rejected: Changes
  readonly stricter: Changes
  readonly looser: Changes
}
type Changes = Readonly<Record<string, readonly (readonly [from: string, to: string])[]>>

t.test('agrees with the published parsing cases of siwe, except three', async t => {
  const vectors = JSON.parse(readFileSync('test/vectors/eip4361-parsing.json', 'utf8')) as Vectors
  const base = vectors.base.join('\n')
  const texts = (changes: Changes): [string, string][] =>
    Object.entries(changes).map(([name, steps]) => {
      for (const [from] of steps) if (!base.includes(from)) throw new Error(`${name} changes nothing`)
      return [name, steps.reduce((text, [from, to]) => text.replace(from, to), base)]
    })
  for (const [name, text] of texts(vectors.accepted)) t.ok(parseEip4361(text), name)
  for (const [name, text] of texts(vectors.rejected)) t.notOk(parseEip4361(text), name)
  // Phishing uses user information before the host; the EIP's grammar allows it.
  for (const [name, text] of texts(vectors.stricter)) t.notOk(parseEip4361(text), name)
  // RFC 3986 allows an underscore in a host. The verifier's own domain must be equal in any case.
  for (const [name, text] of texts(vectors.looser)) t.ok(parseEip4361(text), name)
})
