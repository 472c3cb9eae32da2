import assert from 'node:assert/strict'
import {
  confirmationsOf,
  mismatch,
  type Mismatch,
  type Payable,
} from '#packages/reference-host/dist/modules/subscriptions/onchain/match-transfer.js'
import type { TokenTransfer } from '#packages/reference-host/dist/chain/reader.js'
import fc from 'fast-check'
import t from 'tap'
import { holds } from '../../../../harness/holds.ts'

const address = fc.stringMatching(/^0x[0-9a-f]{40}$/)
const transfers: fc.Arbitrary<TokenTransfer> = fc
  .record({
    chainId: fc.integer({ min: 1 }),
    token: address,
    from: address,
    to: address,
    units: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    txHash: fc.stringMatching(/^0x[0-9a-f]{64}$/),
    logIndex: fc.nat(),
    blockNumber: fc.nat(),
    blockHash: fc.stringMatching(/^0x[0-9a-f]{64}$/),
    minedAt: fc.integer({ min: 0, max: 4_000_000_000 }).map(seconds => seconds * 1000),
  })
  .filter(({ from, to }) => from !== to)

/** The pay-in of a known payer, created `ageMs` before the transfer, that the transfer pays. */
function paidBy({ chainId, token, to, from, units, minedAt }: TokenTransfer, ageMs = 0): Payable {
  return { chainId, token, payTo: to, units, payer: from, ownReceiver: false, createdAt: minedAt - ageMs }
}

t.test('a transfer from an address to itself pays nothing, not even to a deposit address', async t => {
  const [transfer] = fc.sample(transfers, 1) as [TokenTransfer]
  const self = { ...transfer, from: transfer.to }
  t.equal(mismatch(paidBy(self), self), 'wrong_sender')
  t.equal(mismatch({ ...paidBy(self), payer: null, ownReceiver: true }, self), 'wrong_sender')
})

t.test('the exact transfer pays from a block time equal to the creation on', async t => {
  const check = (transfer: TokenTransfer, ageMs: number): void => {
    assert.equal(mismatch(paidBy(transfer, ageMs), transfer), undefined)
  }
  await holds(t, fc.property(transfers, fc.nat(), check))
  const [transfer] = fc.sample(transfers, 1) as [TokenTransfer]
  t.equal(mismatch(paidBy(transfer, 0), transfer), undefined)
})

/** Each changes one thing of a paying transfer to that of a second transfer. */
const CHANGES: Record<Mismatch, (transfer: TokenTransfer, other: TokenTransfer) => TokenTransfer> = {
  wrong_chain: (transfer, { chainId }) => ({ ...transfer, chainId }),
  wrong_token: (transfer, { token }) => ({ ...transfer, token }),
  wrong_receiver: (transfer, { to }) => ({ ...transfer, to }),
  wrong_amount: (transfer, { units }) => ({ ...transfer, units }),
  wrong_sender: (transfer, { from }) => ({ ...transfer, from }),
  mined_too_early: (transfer, { logIndex }) => ({ ...transfer, minedAt: transfer.minedAt - 1 - logIndex }),
}
const REASONS = Object.keys(CHANGES) as Mismatch[]

for (const [reason, change] of Object.entries(CHANGES)) {
  t.test(`a transfer with one difference is denied as ${reason} only`, async t => {
    const check = (transfer: TokenTransfer, other: TokenTransfer): void => {
      const changed = change(transfer, other)
      fc.pre(JSON.stringify(changed, text) !== JSON.stringify(transfer, text))
      assert.equal(mismatch(paidBy(transfer), changed), reason)
    }
    await holds(t, fc.property(transfers, transfers, check))
  })
}

t.test('reports the first of several differences', async t => {
  const check = (transfer: TokenTransfer, other: TokenTransfer, chosen: Mismatch[]): void => {
    fc.pre(chosen.every(reason => mismatch(paidBy(transfer), CHANGES[reason](transfer, other)) === reason))
    const changed = chosen.reduce((so, reason) => CHANGES[reason](so, other), transfer)
    assert.equal(
      mismatch(paidBy(transfer), changed),
      REASONS.find(reason => chosen.includes(reason)),
    )
  }
  await holds(t, fc.property(transfers, transfers, fc.subarray(REASONS), check))
})

t.test('one unit more or less, and one millisecond too early, do not pay', async t => {
  const check = (transfer: TokenTransfer): void => {
    for (const by of [1n, -1n]) {
      assert.equal(mismatch(paidBy(transfer), { ...transfer, units: transfer.units + by }), 'wrong_amount')
    }
    assert.equal(
      mismatch({ ...paidBy(transfer), createdAt: transfer.minedAt + 1 }, transfer),
      'mined_too_early',
    )
  }
  await holds(t, fc.property(transfers, check))
})

t.test(
  'anybody may pay to a deposit address, and nobody to a shared receiver for an account without a wallet',
  async t => {
    const check = (transfer: TokenTransfer, payer: string | null): void => {
      assert.equal(mismatch({ ...paidBy(transfer), payer, ownReceiver: true }, transfer), undefined)
      assert.equal(mismatch({ ...paidBy(transfer), payer: null }, transfer), 'wrong_sender')
    }
    await holds(t, fc.property(transfers, fc.option(address), check))
  },
)

t.test(
  'counts the block itself and each later one as confirmations, and none for an earlier head',
  async t => {
    const check = (transfer: TokenTransfer, later: number, earlier: number): void => {
      assert.equal(confirmationsOf(transfer, transfer.blockNumber + later), later + 1)
      assert.equal(confirmationsOf(transfer, transfer.blockNumber - 1 - earlier), 0)
    }
    await holds(t, fc.property(transfers, fc.nat(), fc.nat(), check))
  },
)

function text(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
