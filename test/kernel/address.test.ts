import { addressBucket } from '@gatewright/kernel/address'
import {
  addressMatcher,
  canonicalAddress,
  isAddressBlock,
  isPublicAddress,
} from '@gatewright/kernel/internal/address'
import fc from 'fast-check'
import t from 'tap'

t.test('uses the IPv4 address, the /64 of an IPv6 address, or unknown as the bucket', async t => {
  t.equal(addressBucket('203.0.113.9'), '203.0.113.9')
  t.equal(addressBucket('::ffff:203.0.113.9'), '203.0.113.9')
  t.equal(addressBucket('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  t.equal(addressBucket('2001:0DB8:1:2::'), '2001:db8:1:2::/64')
  t.equal(addressBucket('::1'), '0:0:0:0::/64')
  for (const bad of ['', 'x', '127.1', '1.2.3.4.5', '2001:db8::1%eth0\n'])
    t.notMatch(addressBucket(bad), bad || ' ')
  t.equal(addressBucket('127.1'), 'unknown')
})

t.test('returns the canonical text of complete addresses only', async t => {
  t.equal(canonicalAddress('2001:0DB8::0001'), '2001:db8::1')
  t.equal(canonicalAddress('::ffff:10.0.0.1'), '10.0.0.1')
  for (const wrong of ['', '127.1', '0x7f.0.0.1', '010.0.0.1', '10.0.0.1 ', '10.0.0.0/8'])
    t.equal(canonicalAddress(wrong), undefined, wrong)
})

t.test('rejects a malformed block by name, and matches no address without blocks', async t => {
  t.ok(isAddressBlock('10.0.0.0/8'))
  t.ok(isAddressBlock('::1'))
  for (const wrong of ['10.0.0.0/33', '127.1', 'x']) {
    t.notOk(isAddressBlock(wrong), wrong)
    t.throws(() => addressMatcher([wrong]), new TypeError(`${wrong} is not an IP address or a CIDR block`))
  }
  t.notOk(addressMatcher([])('10.0.0.1'))
})

t.test('an IPv4-compatible IPv6 address is not public, however it is written', async t => {
  for (const address of ['::7f00:1', '::127.0.0.1', '0:0:0:0:0:0:7f00:1', '::8.8.8.8', '::a00:1'])
    t.equal(isPublicAddress(address), false, address)
})

/** How IPv6 addresses stand for IPv4 addresses: `a.b.c.d` is `text`, and its halves in hex are `high` and `low`. */
const EMBEDDINGS: Readonly<Record<string, (text: string, high: string, low: string) => string>> = {
  'IPv4-compatible (RFC 4291)': text => `::${text}`,
  'IPv4-compatible in hex': (_, high, low) => `::${high}:${low}`,
  'IPv4-translated (RFC 2765)': text => `::ffff:0:${text}`,
  '6to4 (RFC 3056)': (_, high, low) => `2002:${high}:${low}::1`,
  'NAT64 (RFC 6052)': text => `64:ff9b::${text}`,
  'local NAT64 (RFC 8215)': text => `64:ff9b:1:abcd::${text}`,
  'Teredo server (RFC 4380)': (_, high, low) => `2001:0:${high}:${low}::1`,
  'Teredo client': (_, high, low) => `2001:0:4136:e378:8000:63bf:${inverted(high)}:${inverted(low)}`,
  'ISATAP (RFC 5214)': text => `2001:470:1f0a::5efe:${text}`,
  'ISATAP of a unique address': (_, high, low) => `2001:470:1f0a::200:5efe:${high}:${low}`,
}
const inverted = (part: string): string => (0xffff - parseInt(part, 16)).toString(16)

t.test('no IPv6 address that stands for an IPv4 address is public, whatever that is', async t => {
  fc.assert(
    fc.property(
      fc.ipV4(),
      fc.constantFrom(...Object.values(EMBEDDINGS)),
      fc.boolean(),
      (text, embed, upper) => {
        const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number)
        const address = embed(text, (a * 256 + b).toString(16), (c * 256 + d).toString(16))
        return !isPublicAddress(upper ? address.toUpperCase() : address)
      },
    ),
  )
  t.ok(isPublicAddress('::ffff:8.8.8.8'), 'a mapped address is its IPv4 address')
  t.notOk(isPublicAddress('::ffff:7f00:1'))
  t.notOk(isPublicAddress('0:0:0:0:0:FFFF:10.0.0.1'))
})

t.test('only what is in 2000::/3 and not set apart there is public', async t => {
  for (const address of ['2606:4700::1111', '2a00:1450:4001:82a::200e', '2001:470::1', '2001:200::1'])
    t.ok(isPublicAddress(address), address)
  const others = [
    '::',
    '::1',
    '::2',
    '1::1',
    '100::1',
    '200::1',
    '4000::1',
    '5f00::1',
    'e000::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
  ]
  for (const address of [
    ...others,
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '3fff::1',
    '2001:10::1',
    '2001:2::1',
    '2620:4f:8000::1',
  ])
    t.notOk(isPublicAddress(address), address)
})
