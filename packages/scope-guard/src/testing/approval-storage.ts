import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { GRACE_MS, keyDigest } from '@gatewright/kernel'
import { race, type TestRunner } from '@gatewright/kernel/testing'
import { connectionTests } from '@gatewright/kernel/internal/testing'
import type { Approval, ApprovalRequest, ApprovalStorage } from '../storage/approvals-port.ts'

/** A store under test. */
export interface ApprovalStorageUnderTest {
  /** The adapter over separate connections to the same store; one entry for an in-process store. */
  readonly connections: readonly ApprovalStorage[]
  /** True if expired approvals are deleted without `collect`. Otherwise the suite requires that `collect` deletes them. */
  readonly expiresNatively?: boolean
  /** Closes what `open` opened. */
  close(): Promise<void>
}

const NOW = 1_767_225_600_000
const ENDS = NOW + 3_600_000

/** Texts that adapters may confuse or fail to store. */
const HOSTILE = [
  '',
  '\u0000',
  '\ud800',
  "'; drop table gw_approvals; --",
  '{tag}:*',
  'é',
  'e\u0301',
  'K',
  'k',
]

const approvalId = (name: string): string => `apr_${keyDigest(name)}`

/** What a test asks for; `more` replaces members of the request. */
function asked(
  account: string,
  name: string,
  more: Partial<ApprovalRequest> = {},
): Pick<Approval, 'id' | 'request' | 'requestedAt' | 'expiresAt'> {
  const request = {
    accountId: account,
    keyId: 'key_1',
    operation: 'payments.create',
    payee: ['account:a', 'wallet:0x1'],
    amountCents: 6000,
    currency: 'USD',
    policyIds: ['pol_1'],
    ...more,
  }
  return { id: approvalId(name), request, requestedAt: NOW, expiresAt: ENDS }
}

/**
 * Declares the tests of the `ApprovalStorage` contract. Run it against every adapter. `open` is called once per test. It may
 * open connections to the same store each time, since accounts are random. If the store has connections, open at least two.
 */
export function approvalStorageContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<ApprovalStorageUnderTest>,
): void {
  const test = connectionTests(runner, open)
  const id = approvalId('a')
  const approve = { state: 'approved', by: 'owner' } as const
  const deny = { state: 'denied', by: 'other' } as const

  runner.describe(`ApprovalStorage on ${name}`, () => {
    test('opens an approval once, and finds and lists it as it was asked for', async (connection, account) => {
      const ask = asked(account, 'a')
      const pending = { ...ask, state: 'pending', decidedBy: null, decidedAt: null }
      assert.deepEqual(await connection(0).open(ask, 5), { outcome: 'opened', approval: pending })
      const again = await connection(1).open({ ...ask, requestedAt: NOW + 1, expiresAt: ENDS + 1 }, 1)
      assert.deepEqual(again, { outcome: 'known', approval: pending })
      assert.deepEqual(await connection(1).find(account, id, NOW), pending)
      assert.deepEqual(await connection(0).list(account, NOW), [pending])
      assert.equal(await connection(0).find(randomUUID(), id, NOW), undefined)
      assert.deepEqual(await connection(0).list(randomUUID(), NOW), [])
    })

    test('opens one approval of 20 simultaneous requests for it', async (connection, account) => {
      const results = await race(20, index => connection(index).open(asked(account, 'a'), 5))
      assert.equal(results.filter(({ outcome }) => outcome === 'opened').length, 1)
      assert.equal(results.filter(({ outcome }) => outcome === 'known').length, 19)
      assert.equal((await connection(0).list(account, NOW)).length, 1)
    })

    test('never has more open approvals than the most, also of simultaneous requests', async (connection, account) => {
      const results = await race(20, index => connection(index).open(asked(account, `${index}`), 5))
      assert.equal(results.filter(({ outcome }) => outcome === 'opened').length, 5)
      assert.equal(results.filter(({ outcome }) => outcome === 'full').length, 15)
      const [first, second] = await connection(0).list(account, NOW)
      assert.equal((await connection(0).open(asked(randomUUID(), 'a'), 1)).outcome, 'opened')
      await connection(0).decide(account, (first as Approval).id, approve, NOW)
      assert.equal((await connection(1).open(asked(account, 'more'), 5)).outcome, 'full')
      await connection(0).decide(account, (second as Approval).id, deny, NOW)
      assert.equal((await connection(1).open(asked(account, 'more'), 5)).outcome, 'opened')
      assert.equal((await connection(1).open(asked(account, 'again'), 5)).outcome, 'full')
      await connection(0).use(account, (first as Approval).id, 'e', NOW)
      assert.equal((await connection(1).open(asked(account, 'again'), 5)).outcome, 'opened')
      const late = { ...asked(account, 'late'), requestedAt: ENDS, expiresAt: ENDS + 1 }
      assert.equal(
        (await connection(1).open(late, 1)).outcome,
        'opened',
        'those that have expired do not count',
      )
    })

    test('takes one of two decisions at once, and tells the other which', async (connection, account) => {
      for (const [round, other] of [deny, { ...approve, by: 'other' }, deny].entries()) {
        const each = asked(account, `round ${round}`)
        await connection(0).open(each, 9)
        const results = await race(8, index =>
          connection(index).decide(account, each.id, index % 2 ? other : approve, NOW + 1),
        )
        const [decided, ...more] = results.filter(({ outcome }) => outcome === 'decided')
        assert.ok(decided && 'approval' in decided && more.length === 0, 'one decision')
        assert.equal(decided.approval.decidedAt, NOW + 1)
        const expected = decided.approval.decidedBy === 'owner' ? approve : other
        assert.deepEqual([decided.approval.state, decided.approval.decidedBy], [expected.state, expected.by])
        for (const result of results)
          if ('approval' in result) assert.deepEqual(result.approval, decided.approval)
        assert.equal(results.filter(({ outcome }) => outcome === 'already').length, 7)
      }
    })

    test('lets one effect use an approved approval, again after a crash, and no other effect', async (connection, account) => {
      await connection(0).open(asked(account, 'a'), 5)
      assert.equal(await connection(0).use(account, id, 'e1', NOW), false, 'it is pending')
      await connection(0).decide(account, id, approve, NOW)
      const results = await race(8, index => connection(index).use(account, id, `e${index % 2}`, NOW))
      assert.equal(results.filter(used => used).length, 4, 'all calls of one effect')
      const winner = results[0] ? 'e0' : 'e1'
      assert.equal(await connection(1).use(account, id, winner, ENDS - 1), true)
      assert.equal(await connection(1).use(account, id, winner, ENDS), false, 'not for ever')
      assert.equal(await connection(1).use(account, id, winner === 'e0' ? 'e1' : 'e0', NOW), false)
      assert.equal((await connection(0).find(account, id, NOW))?.state, 'used')
      assert.equal((await connection(0).decide(account, id, deny, NOW)).outcome, 'already')
      assert.deepEqual(await connection(0).list(account, NOW), [])
    })

    test('opens a used approval again, which has to be approved again', async (connection, account) => {
      await connection(0).open(asked(account, 'a'), 5)
      await connection(0).decide(account, id, approve, NOW)
      await connection(0).use(account, id, 'e1', NOW)
      const again = await connection(1).open(asked(account, 'a'), 5)
      assert.equal(again.outcome, 'opened')
      assert.deepEqual('approval' in again && again.approval.decidedBy, null)
      assert.equal(await connection(1).use(account, id, 'e2', NOW), false)
    })

    test('denies a request until the approval would have expired', async (connection, account) => {
      await connection(0).open(asked(account, 'a'), 5)
      await connection(0).decide(account, id, deny, NOW)
      assert.equal(await connection(0).use(account, id, 'e1', NOW), false)
      const known = await connection(1).open({ ...asked(account, 'a'), requestedAt: ENDS - 1 }, 5)
      assert.ok(
        known.outcome === 'known' &&
          known.approval.state === 'denied' &&
          known.approval.decidedBy === 'other',
      )
      const after = { ...asked(account, 'a'), requestedAt: ENDS, expiresAt: ENDS + 1 }
      assert.equal((await connection(1).open(after, 5)).outcome, 'opened')
    })

    test('expires exactly at the instant', async (connection, account) => {
      for (const each of ['a', 'b', 'c']) await connection(0).open(asked(account, each), 5)
      const [b, c] = [approvalId('b'), approvalId('c')]
      assert.equal((await connection(0).list(account, ENDS - 1)).length, 3)
      assert.equal((await connection(0).decide(account, b, approve, ENDS - 1)).outcome, 'decided')
      assert.equal((await connection(0).decide(account, c, approve, ENDS - 1)).outcome, 'decided')
      assert.equal(await connection(0).use(account, b, 'e', ENDS - 1), true)
      assert.equal(await connection(0).use(account, c, 'e', ENDS), false)
      assert.equal((await connection(0).decide(account, id, approve, ENDS)).outcome, 'gone')
      assert.equal(await connection(0).find(account, id, ENDS), undefined)
      assert.notEqual(await connection(0).find(account, id, ENDS - 1), undefined)
      assert.deepEqual(await connection(0).list(account, ENDS), [])
    })

    test('ends the open approvals of a key that is revoked meanwhile, or lets them be used before', async (connection, account) => {
      await connection(0).open(asked(account, 'a'), 9)
      await connection(0).open(asked(account, 'pending'), 9)
      await connection(0).open(asked(account, 'other', { keyId: 'key_2' }), 9)
      await connection(0).decide(account, id, approve, NOW)
      const [ended, used] = await Promise.all([
        connection(0).withdraw(account, ['key_0', 'key_1'], NOW),
        connection(1).use(account, id, 'e', NOW),
      ])
      const endedIds = ended.map(({ id: each }) => each).sort()
      assert.deepEqual(endedIds, [approvalId('pending'), ...(used ? [] : [id])].sort())
      assert.equal(ended.find(({ id: each }) => each === id)?.state, used ? undefined : 'approved')
      assert.equal(await connection(1).use(account, id, 'e', NOW), used)
      assert.equal((await connection(0).decide(account, approvalId('pending'), approve, NOW)).outcome, 'gone')
      const [left, ...more] = await connection(0).list(account, NOW)
      assert.ok(left?.request.keyId === 'key_2' && more.length === 0)
      assert.equal((await connection(0).withdraw(account, ['key_1', 'key_2'], NOW)).length, 1, 'of both keys')
    })

    test('ends an approval of a revoked key, or lets it be decided before, when both come at once', async (connection, account) => {
      for (let round = 0; round < 6; round++) {
        const ask = asked(account, `round ${round}`)
        await connection(0).open(ask, 9)
        const [ended, decided] = await Promise.all([
          connection(round).withdraw(account, ['key_1'], NOW),
          connection(round + 1).decide(account, ask.id, round % 2 ? approve : deny, NOW),
        ])
        const was = decided.outcome === 'decided' ? decided.approval.state : undefined
        const left = await connection(0).find(account, ask.id, NOW)
        if (was === 'denied') assert.ok(ended.length === 0 && left?.state === 'denied')
        else assert.deepEqual([ended.length, left], [1, undefined], 'also one that was just approved')
        assert.equal(await connection(1).use(account, ask.id, 'e', NOW), false)
      }
    })

    test('reports each approval that expires undecided or unused, once and not before the instant', async (connection, account, expiresNatively) => {
      if (expiresNatively) return assert.deepEqual(await connection(0).expire(100, ENDS), [])
      const states = ['pending', 'approved', 'denied', 'used']
      for (const each of states) await connection(0).open(asked(account, each), 9)
      for (const each of states.slice(1))
        await connection(0).decide(account, approvalId(each), each === 'denied' ? deny : approve, NOW)
      await connection(0).use(account, approvalId('used'), 'e', NOW)
      const later = { ...asked(account, 'later'), expiresAt: ENDS + 1 }
      await connection(0).open(later, 9)
      const expired = async (now: number): Promise<readonly Approval[]> => {
        const found = await race(4, index => connection(index).expire(10_000, now))
        return found.flat().filter(({ request }) => request.accountId === account)
      }
      assert.deepEqual(await expired(ENDS - 1), [])
      const ended = await expired(ENDS)
      assert.deepEqual(ended.map(({ state }) => state).sort(), ['approved', 'pending'])
      assert.deepEqual(await expired(ENDS), [])
      assert.equal(await connection(0).find(account, approvalId('pending'), ENDS - 1), undefined)
      assert.equal(
        await connection(0).use(account, approvalId('approved'), 'e', ENDS - 1),
        false,
        'by a slow clock',
      )
      assert.equal(await connection(0).use(account, approvalId('used'), 'e', ENDS - 1), true)
      assert.deepEqual(
        (await expired(ENDS + 1)).map(({ id: each }) => each),
        [later.id],
      )
    })

    test('expires an approval, or lets it be used before, when hosts with two clocks come at once', async (connection, account, expiresNatively) => {
      if (expiresNatively) return
      for (let round = 0; round < 6; round++) {
        const ask = asked(account, `round ${round}`)
        await connection(0).open(ask, 9)
        await connection(0).decide(account, ask.id, approve, NOW)
        const [ended, used] = await Promise.all([
          connection(round).expire(10_000, ENDS),
          connection(round + 1).use(account, ask.id, 'e', ENDS - 1),
        ])
        const isExpired = ended.some(each => each.request.accountId === account && each.id === ask.id)
        assert.notEqual(isExpired, used)
      }
    })

    test('expires at most as many approvals as it is asked to', async (connection, account, expiresNatively) => {
      if (expiresNatively) return
      const early = { requestedAt: NOW - 2_000_000_000, expiresAt: NOW - 1_000_000_000 }
      for (const each of ['a', 'b']) await connection(0).open({ ...asked(account, each), ...early }, 9)
      assert.equal((await connection(0).expire(1, early.expiresAt)).length, 1)
      assert.equal((await connection(0).expire(1, early.expiresAt)).length, 1)
    })

    test('finds nothing to decide or to use where nobody asked', async (connection, account) => {
      assert.deepEqual(await connection(0).decide(account, id, approve, NOW), { outcome: 'gone' })
      assert.equal(await connection(0).use(account, id, 'e', NOW), false)
      assert.deepEqual(await connection(0).withdraw(account, ['key_1'], NOW), [])
    })

    test('lists approvals oldest first', async (connection, account) => {
      for (const [at, each] of ['c', 'a', 'b'].entries())
        await connection(at).open({ ...asked(account, each), requestedAt: NOW + at }, 9)
      const listed = (await connection(0).list(account, NOW + 5)).map(({ id }) => id)
      assert.deepEqual(listed, ['c', 'a', 'b'].map(approvalId))
    })

    test('keeps accounts, keys, effects and texts apart and unchanged, whatever they contain', async (connection, account) => {
      for (const [at, text] of HOSTILE.entries()) {
        const accountId = `${account}${text}`
        const ask = asked(accountId, `${at}`, {
          keyId: text,
          operation: text,
          payee: [text],
          policyIds: [text],
        })
        await connection(0).open(ask, 1)
        const decided = await connection(1).decide(accountId, ask.id, { state: 'approved', by: text }, NOW)
        assert.ok('approval' in decided)
        assert.deepEqual([decided.approval.request, decided.approval.decidedBy], [ask.request, text])
        assert.equal(await connection(0).use(accountId, ask.id, `${text}!`, NOW), true)
        assert.equal(await connection(0).use(accountId, ask.id, text, NOW), false)
      }
    })

    test('deletes approvals that ended long ago, and no other', async (connection, account, expiresNatively) => {
      if (expiresNatively) return assert.equal(await connection(0).collect(100, ENDS + GRACE_MS), 0)
      await connection(0).open(asked(account, 'a'), 5)
      await connection(0).collect(1000, ENDS + GRACE_MS - 1)
      assert.notEqual(await connection(0).find(account, id, NOW), undefined)
      while ((await connection(0).collect(1000, ENDS + GRACE_MS)) > 0);
      assert.equal(await connection(0).find(account, id, NOW), undefined)
    })
  })
}
