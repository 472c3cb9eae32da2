import { rows } from '@gatewright/kernel/sql'
import { events } from '@gatewright/host'
import t from 'tap'
import { decrypted } from '../../harness/cards.ts'
import type { OperationRequest, OperationResult } from '../../harness/money-operations.ts'
import { openCards, ISSUED, SECRETS, SURFACES, WRONG_STATE } from './open-cards.ts'

const MINUTE_MS = 60_000
const { db, clock, outside, owner, call, stored, history } = await openCards(t)

t.test('reveals a card to the session that opened the key, for 5 minutes', async t => {
  for (const surface of SURFACES) {
    const ann = await owner()
    const params = { cardId: await stored(ann) }
    const opened = await call(ann, 'openSecrets', {}, surface)
    const { sessionId, secretKey } = surface === 'user' ? opened.data!['secrets'] : opened.data!
    t.match(secretKey, /^[0-9a-f]{32}$/)
    const reveal = (more: OperationRequest = {}): Promise<OperationResult> =>
      call(ann, 'reveal', { params, body: { sessionId }, ...more }, surface)
    clock.advance(5 * MINUTE_MS - 1)
    const { data } = await reveal()
    const { encryptedPan, encryptedCvc, ...more } = surface === 'user' ? data!['secrets'] : data!
    t.same([decrypted(secretKey, encryptedPan), decrypted(secretKey, encryptedCvc)], Object.values(SECRETS))
    t.equal(Buffer.from(encryptedPan.iv, 'base64').length, 12)
    t.same(more, surface === 'user' ? {} : { ...ISSUED, brand: 'visa', keyId: 'sandbox' })
    const { keyId, sessionId: id } = ann.session as { keyId: string; sessionId: string }
    t.same(await history(ann.accountId, 'card', params.cardId), [
      [null, null, 'revealed', null, `key ${keyId}, session ${id}`],
    ])
    t.match(await reveal({ session: { ...ann.session, sessionId: 'ses_other' } }), {
      code: 'not_found',
      field: 'sessionId',
    })
    t.match(await reveal({ body: { sessionId: 'x' } }), { code: 'not_found', field: 'sessionId' })
    await t.rejects(reveal({ params: { cardId: await stored(ann, { issuer: 'other' }) } }), {
      code: 'ERR_PROVIDER_UNAVAILABLE',
    })
    const canceled = { code: WRONG_STATE[surface], field: 'status' }
    t.match(await reveal({ params: { cardId: await stored(ann, { status: 'canceled' }) } }), canceled)
    outside.meanwhile = async cardId =>
      void (await rows(db, `update gw_cards set status = 'canceled' where id = $1`, [cardId]))
    t.match(await reveal(), canceled, 'canceled meanwhile')
    outside.meanwhile = async () => {}
    t.equal((await history(ann.accountId, 'card', params.cardId)).length, 1)
    clock.advance(1)
    t.match(await reveal(), { code: 'not_found', field: 'sessionId' })
  }
})

t.test('the first reveal of a card by a key outlives the retention of events, later ones do not', async t => {
  const ann = await owner()
  const params = { cardId: await stored(ann) }
  const { sessionId } = (await call(ann, 'openSecrets')).data!['secrets']
  const reveal = (session = ann.session) => call(ann, 'reveal', { params, body: { sessionId }, session })
  for (let count = 0; count < 3; count++) t.ok((await reveal()).data)
  t.equal((await history(ann.accountId, 'card', params.cardId)).length, 3)
  await events.collect(db, 1000, clock.now() + 1)
  t.equal((await history(ann.accountId, 'card', params.cardId)).length, 1)
  t.ok((await reveal()).data)
  await events.collect(db, 1000, clock.now() + 1)
  t.equal((await history(ann.accountId, 'card', params.cardId)).length, 1, 'one is kept for a key')
})
