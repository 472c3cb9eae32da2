import { counterOwner, keyPolicyId } from '@gatewright/kernel/internal'
import t from 'tap'

const LINEAGE = 'aB3dE6gH9jK2mN5p'

t.test('all policies of one key have one owner of their counters', async t => {
  const [first, second] = [keyPolicyId(LINEAGE, 'aaaaaaaa'), keyPolicyId(LINEAGE, 'ZZZZ9999')]
  t.not(first, second)
  t.equal(counterOwner(first), counterOwner(second))
  t.not(counterOwner(first), counterOwner(keyPolicyId(LINEAGE.replace('a', 'b'), 'aaaaaaaa')))
})

t.test('an id of another form owns its counters', async t => {
  for (const id of [
    `pol_${LINEAGE}`,
    `pol_${LINEAGE}_`,
    `pol_${LINEAGE}_aaaaaaa`,
    `pol_${LINEAGE}_aaaaaaaaa`,
    `pol_${LINEAGE}_aaaa-aaa`,
    `pol_${LINEAGE}_aaaaaaaa\n`,
    `policy_${LINEAGE}_aaaaaaaa`,
    'team_a_january2',
    '',
  ]) {
    t.equal(counterOwner(id), id)
  }
})
