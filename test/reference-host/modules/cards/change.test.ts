import t from 'tap'
import type { OperationResult } from '../../harness/money-operations.ts'
import { newKey } from '../../../session-issuer/fixtures.ts'
import { openCards, NOTE, SURFACES, WRONG_STATE } from './open-cards.ts'

const STATUSES = ['active', 'canceled', 'locked', 'not_activated'] as const
const { clock, outside, owner, call, stored, find, events, issuer } = await openCards(t)

t.test('changes the status as listed, and records it', async t => {
  const moves: Readonly<Record<string, readonly string[]>> = {
    active: ['active', 'locked', 'canceled'],
    locked: ['locked', 'active', 'canceled'],
    not_activated: ['not_activated', 'active', 'canceled'],
    canceled: ['canceled'],
  }
  for (const surface of SURFACES) {
    const ann = await owner()
    for (const from of STATUSES)
      for (const to of STATUSES) {
        const id = await stored(ann, { status: from })
        const status = surface === 'user' && to === 'not_activated' ? 'notActivated' : to
        const result = await call(ann, 'change', { params: { cardId: id }, body: { status } }, surface)
        const isAllowed = moves[from]?.includes(to)
        const data = surface === 'user' ? result.data?.['card'] : result.data
        if (isAllowed) t.match(data, { status }, `${from} ${to}`)
        else t.match(result, { code: WRONG_STATE[surface], field: 'status' }, `${from} ${to}`)
        t.match(await find(id), { status: isAllowed ? to : from })
        const cause = to === 'canceled' ? 'user' : 'changed'
        t.same(await events(ann, id), isAllowed && from !== to ? [[from, to, cause]] : [], `${from} ${to}`)
        if (isAllowed && to === 'canceled' && from !== to)
          t.match(await find(id), { canceledAt: clock.now(), cancelReason: 'user' })
      }
  }
})

t.test('changes what a body names, and nothing else', async t => {
  for (const surface of SURFACES) {
    const ann = await owner()
    const limit = { amountCents: 500, frequency: 'allTime' } as const
    const id = await stored(ann, { encryptedName: NOTE, encryptedColor: NOTE, limit })
    const change = (body: object): Promise<OperationResult> =>
      call(ann, 'change', { params: { cardId: id }, body }, surface)
    const before = await find(id)
    t.match(await change({}), { code: 'invalid_request', field: 'status' })
    t.same(await find(id), before)
    t.match(await change({ encryptedName: null, encryptedMemo: NOTE }), { data: {} })
    t.same(await find(id), { ...before, encryptedName: null, encryptedMemo: NOTE })
    t.match(await change({ limit: null }), { data: {} })
    t.same(await find(id), { ...before, encryptedName: null, encryptedMemo: NOTE, limit: null })
    t.same(await events(ann, id), [])
    const other = await stored(ann)
    t.match(await call(ann, 'read', { params: { cardId: other } }, surface), { data: {} })
    t.equal((await find(other))?.encryptedMemo, null, 'no other card is changed')
  }
  const ann = await owner()
  const params = { cardId: await stored(ann) }
  t.match(await call(ann, 'change', { params, body: { folderId: null } }), { data: { card: {} } })
  t.match(await call(ann, 'change', { params, body: { folderId: null } }, 'partner'), { field: 'status' })
})

t.test('an account that does not meet the requirements can only tighten a card', async t => {
  const ann = await owner()
  outside.onboarding = { ok: false, code: 'policy_blocked', message: 'not yet' }
  const limit = { amountCents: 500, frequency: 'allTime' } as const
  const params = { cardId: await stored(ann, { limit }) }
  const change = (body: object): Promise<OperationResult> => call(ann, 'change', { params, body })
  const known = await find(params.cardId)
  for (const body of [
    { limit: null },
    { limit: { amount: 501, frequency: 'allTime' } },
    { limit: { amount: 1 } },
  ])
    t.match(await change(body), { code: 'policy_blocked', message: 'not yet' })
  t.same(await find(params.cardId), known)
  t.match(await change({ limit: { amount: 500, frequency: 'allTime' }, status: 'locked' }), { data: {} })
  t.match(await change({ status: 'active' }), { message: 'not yet' })
  t.match(await change({ status: 'canceled' }), { data: {} })
})

t.test('a session with a cap that a card does not have cannot loosen or reveal it', async t => {
  const ann = await owner()
  const { key } = await newKey(issuer, [], {
    accountId: ann.accountId,
    policy: { dailySpendCapCents: 100 },
  })
  const policies = await issuer.lineagePolicies({ accountId: ann.accountId, lineageId: key.lineageId })
  const session = { keyId: key.id, policyIds: policies!.map(({ id }) => id), sessionId: 'ses_2' }
  const capped = { ...ann, session }
  const above = { code: 'policy_blocked', details: { rule: 'card_above_caller' } }
  const params = { cardId: await stored(ann, { limit: { amountCents: 500, frequency: 'allTime' } }) }
  t.match(await call(capped, 'change', { params, body: { limit: null } }), above)
  t.match(await call(capped, 'change', { params, body: { status: 'locked' } }), { data: {} })
  const opened = await call(capped, 'openSecrets')
  const body = { sessionId: opened.data!['secrets'].sessionId }
  t.match(await call(capped, 'reveal', { params, body }), above)
  const made = await call(capped, 'create')
  const [bound] = [made.data!['card'].id as string]
  t.match(await call(capped, 'reveal', { params: { cardId: bound }, body }), { data: { secrets: {} } })
  await stored(ann, { id: `${bound}x` })
  t.match(await call(ann, 'change', { params, body: { status: 'active', limit: null } }), { data: {} })
})
