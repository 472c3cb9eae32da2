import t from 'tap'
import { bench } from './issuer.ts'

/** Whether a guard with `allowedIps` lets an address pass. */
async function allowing(allowedIps: string[]) {
  const { guard, bearer } = await bench({ policies: async () => [{ allowedIps }] })
  const authorization = await bearer({ policyIds: ['p'] })
  return async (address?: string): Promise<boolean> => {
    const facts = { authorization, ...(address === undefined ? {} : { address }) }
    return (await guard.check(facts, { operation: 'cards.list', allOf: [] })).ok
  }
}

t.test('allows only addresses inside the blocks, and denies an unknown address', async t => {
  const passes = await allowing(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'])
  for (const address of ['10.0.0.0', '10.255.255.255', '192.0.2.7', '2001:db8::1', '2001:DB8:FFFF::']) {
    t.equal(await passes(address), true, address)
  }
  for (const address of ['9.255.255.255', '11.0.0.0', '192.0.2.8', '2001:db9::', '::1', undefined]) {
    t.equal(await passes(address), false, String(address))
  }
})

t.test('treats an IPv4-mapped IPv6 address as the IPv4 address, in policies and in requests', async t => {
  t.equal(await (await allowing(['10.0.0.0/8']))('::ffff:10.1.2.3'), true)
  t.equal(await (await allowing(['::ffff:10.0.0.0/104']))('10.1.2.3'), true)
  t.equal(await (await allowing(['::ffff:10.0.0.1']))('10.0.0.1'), true)
  t.equal(await (await allowing(['::ffff:10.0.0.0/104']))('11.1.2.3'), false)
  t.equal(await (await allowing(['0.0.0.0/0']))('2001:db8::1'), false)
})

t.test('blocks a client address that is not a single valid address', async t => {
  const passes = await allowing(['0.0.0.0/0', '::/0'])
  for (const address of [
    '',
    '127.1',
    '010.0.0.1',
    '10.0.0.1, 10.0.0.2',
    '10.0.0.1:80',
    'localhost',
    '1',
    '0x7f000001',
  ]) {
    t.equal(await passes(address), false, address)
  }
})

t.test('counts IPv6 by /64 and IPv4 by address', async t => {
  const limits = [{ name: 'addr', points: 1, windowSeconds: 60, per: 'address' }] as const
  const { guard, bearer } = await bench({ limits })
  const authorization = await bearer()
  const call = async (address: string): Promise<boolean> =>
    (await guard.check({ authorization, address }, { operation: 'cards.list', allOf: [] })).ok
  t.equal(await call('2001:db8:1:2::1'), true)
  t.equal(await call('2001:db8:1:2:ffff:ffff:ffff:ffff'), false)
  t.equal(await call('2001:db8:1:3::1'), true)
  t.equal(await call('192.0.2.1'), true)
  t.equal(await call('::ffff:192.0.2.1'), false)
  t.equal(await call('192.0.2.2'), true)
  t.match(await guard.check({ authorization }, { operation: 'cards.list', allOf: [] }), {
    ok: true,
    value: { headers: [] },
  })
})
