import t from 'tap'
import type { OperationResult } from '../../harness/money-operations.ts'
import { uniqueName } from '../../../harness/stores.ts'
import { openCards, NOTE } from './open-cards.ts'

const MINUTE_MS = 60_000
const { clock, outside, owner, call, stored, find } = await openCards(t)

t.test('proposes a disposable card, and makes it once within 15 minutes', async t => {
  const [ann, bob] = [await owner(), await owner()]
  for (const [body, limitFrequency, autoCancelAfterAuth] of [
    [{}, 'perAuthorization', true],
    [{ limitFrequency: 'allTime' }, 'allTime', false],
    [{ autoCancelAfterAuth: false }, 'perAuthorization', false],
    [{ limitFrequency: 'allTime', autoCancelAfterAuth: true }, 'allTime', true],
  ] as const) {
    const effectId = uniqueName()
    const { data } = await call(ann, 'propose', { effectId, body: { amountCents: 70, ...body } })
    const { disposable } = data!
    const at = (ms: number): string => new Date(clock.now() + ms).toISOString()
    t.match(disposable, { status: 'proposed', cardId: null, amountCents: 70, currency: 'USD' })
    t.match(disposable, {
      limitFrequency,
      autoCancelAfterAuth,
      createdAt: at(0),
      expiresAt: at(15 * MINUTE_MS),
    })
    const { proposalId } = disposable
    t.match(await call(bob, 'execute', { body: { proposalId } }), { code: 'not_found', field: 'proposalId' })
    clock.advance(15 * MINUTE_MS - 1)
    const executed = await call(ann, 'execute', { body: { proposalId } })
    const cardId = `card_${effectId}`
    t.match(executed.data, {
      disposable: { status: 'executed', cardId, executedAt: at(0), proposalId },
      card: { id: cardId, disposable: true, limit: { amount: 70, frequency: limitFrequency } },
    })
    t.match(await find(cardId), { disposable: true, autoCancelAfterAuth, encryptedName: null })
    t.match(await call(ann, 'execute', { body: { proposalId } }), {
      code: 'invalid_request',
      message: /executed before/,
    })
  }
  const propose = async (amountCents = 1): Promise<OperationResult> =>
    call(ann, 'propose', { body: { amountCents } })
  t.same([(await propose(0)).code, (await propose(100_000_001)).code], ['invalid_request', 'invalid_request'])
  t.match(await propose(100_000_000), { data: {} })
  const { proposalId } = (await propose()).data!['disposable']
  clock.advance(15 * MINUTE_MS)
  t.match(await call(ann, 'execute', { body: { proposalId } }), { message: /has expired/ })
  const next = (await propose()).data!['disposable']
  outside.meanwhile = async id => void (await stored(ann, { id }))
  t.match(await call(ann, 'execute', { body: { proposalId: next.proposalId } }), {
    message: /executed before/,
  })
  outside.meanwhile = async () => {}
  const named = (await propose()).data!['disposable']
  const body = { proposalId: named.proposalId, encryptedName: NOTE }
  t.match(await call(ann, 'execute', { body }), { data: { card: { encryptedName: NOTE } } })
  for (let count = 0; count < 50; count += 1) await stored(ann)
  const full = { proposalId: (await propose()).data!['disposable'].proposalId }
  t.match(await call(ann, 'execute', { body: full }), { code: 'policy_blocked' })
})
