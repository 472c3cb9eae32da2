import { addressBucket } from '@gatewright/kernel/address'
import { addressMatcher, canonicalAddress, isAddressBlock } from '@gatewright/kernel/internal/address'
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
