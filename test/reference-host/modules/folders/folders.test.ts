import t from 'tap'
import { userOwner } from '../../harness/cards.ts'
import { openTestHost } from '../../../harness/host.ts'

const host = await openTestHost(t, { RATE_LIMITS: 'off' })

t.test('makes, renames, lists and deletes folders; cards lose a deleted one', async t => {
  const owner = await userOwner(host)
  const make = async (name: string): Promise<string> =>
    ((await owner.call('/folders', { body: { name } })).body.data['folder'] as { id: string }).id
  const [travel, work] = [await make('Travel'), await make('Work')]
  const card = await owner.make({ folderId: travel })
  t.equal(card['folderId'], travel)
  const id = owner.idOf(card)
  const unknown = { status: 404, body: { error: 'not_found', field: 'folderId' } }
  t.match(await owner.call('/cards', { body: { folderId: 'fld_none' } }), unknown)
  t.match(await owner.call(`/cards/${id}`, { method: 'PATCH', body: { folderId: 'fld_none' } }), unknown)
  const renamed = await owner.call(`/folders/${travel}`, { method: 'PATCH', body: { name: 'Trips' } })
  t.match(renamed.body.data, { folder: { id: travel, name: 'Trips', createdAt: String } })
  const page = await owner.call('/folders?limit=1')
  t.match(page.body.data, { folders: [{ id: travel, name: 'Trips' }], nextCursor: String })
  const next = await owner.call(`/folders?limit=1&cursor=${String(page.body.data['nextCursor'])}`)
  t.match(next.body.data, { folders: [{ id: work }], nextCursor: null })
  const deleted = await owner.call(`/folders/${travel}`, { method: 'DELETE' })
  t.match(deleted.body.data, { id: travel, deletedAt: String })
  t.equal(owner.cardOf(await owner.call(`/cards/${id}`))['folderId'], null)
  t.equal((await owner.call(`/folders/${travel}`, { method: 'DELETE' })).status, 404)
  for (const name of ['', 'x'.repeat(81), 'a\u0000b', 7])
    t.match(await owner.call('/folders', { body: { name } }), { status: 400, body: { field: 'name' } })
})

t.test('an account has at most 100 folders, and one for one idempotency key', async t => {
  const owner = await userOwner(host)
  const headers = { 'idempotency-key': 'one-folder' }
  const twice = [1, 2].map(() => owner.call('/folders', { body: { name: 'Same' }, headers }))
  const ids = (await Promise.all(twice)).map(({ body }) => (body.data['folder'] as { id: string }).id)
  t.equal(new Set(ids).size, 1)
  for (let count = 1; count < 100; count += 1) await owner.call('/folders', { body: { name: `${count}` } })
  t.match(await owner.call('/folders', { body: { name: 'one more' } }), {
    status: 403,
    body: { error: 'policy_blocked', rule: 'max_folders' },
  })
  t.same(host.failures, [])
})
