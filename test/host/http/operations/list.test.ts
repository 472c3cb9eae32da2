import { allow } from '@gatewright/kernel'
import t from 'tap'
import * as internals from '../../../harness/internals.ts'

const item = { type: 'object', properties: {} } as never
const denial = { ok: false, code: 'not_found', status: 404, message: 'No.' } as const
const POSITIONS = [5, 4, 3, 2, 1]

/** A list of five records, and what it was asked for. */
function listOf(more: object = {}) {
  const asked: unknown[] = []
  const operation = internals.listOperation({
    id: 'things.list',
    title: 'List',
    path: '/user/v1/things',
    scopes: ['things.read'],
    name: 'things',
    component: { title: 'ThingList', description: 'Things' },
    item,
    example: {} as never,
    async rows(accountId: string, page: { after: number; limit: number }, call: object) {
      asked.push([accountId, page, call])
      return POSITIONS.filter(position => page.after === 0 || position < page.after)
        .slice(0, page.limit)
        .map(position => ({ position }))
    },
    write: async (found: readonly { position: number }[], accountId: string) =>
      found.map(({ position }) => ({ name: `${accountId} ${position}` })),
    ...more,
  })
  const read = (query: object, params: object = {}) => {
    const call = { caller: { session: { accountId: 'acc_1' } }, params, query } as never
    return (operation as { handle(call: never): Promise<unknown> }).handle(call)
  }
  return { operation, asked, read }
}

t.test('reads a list page by page', async t => {
  const { read, asked } = listOf()
  const seen: string[] = []
  let cursor: string | null | undefined
  while (cursor !== null) {
    const page = (await read({ limit: 2, ...(cursor === undefined ? {} : { cursor }) })) as {
      value: { data: { things: { name: string }[]; nextCursor: string | null }; summary: string }
    }
    seen.push(page.value.summary, ...page.value.data.things.map(({ name }) => name))
    cursor = page.value.data.nextCursor
  }
  t.same(seen, ['2 things.', 'acc_1 5', 'acc_1 4', '2 things.', 'acc_1 3', 'acc_1 2', '1 thing.', 'acc_1 1'])
  t.match(asked[0], ['acc_1', { after: 0, limit: 3 }, { params: {}, query: { limit: 2 } }])
  t.same(
    await read({ limit: 5 }, { id: 'a' }),
    allow({
      data: { things: POSITIONS.map(position => ({ name: `acc_1 ${position}` })), nextCursor: null },
      summary: '5 things.',
    }),
  )
  t.match(asked.at(-1), ['acc_1', { after: 0, limit: 6 }, { params: { id: 'a' } }])
})

t.test('denies a foreign cursor, and what the rows deny', async t => {
  const { read, asked } = listOf()
  t.match(await read({ limit: 2, cursor: 'x' }), { ok: false, field: 'cursor' })
  t.same(asked, [])
  t.same(await listOf({ rows: async () => denial }).read({ limit: 2 }), denial)
})

t.test('declares its page size and its filters', async t => {
  const sizeOf = (more: object): unknown => {
    const { query } = listOf(more).operation as unknown as { query: { properties: Record<string, object> } }
    return query.properties
  }
  t.match(sizeOf({}), { limit: { maximum: 100, default: 20 }, cursor: {} })
  t.match(sizeOf({ most: 50, defaultLimit: 5, filters: { kind: { type: 'string' } } }), {
    limit: { maximum: 50, default: 5 },
    kind: { type: 'string' },
  })
  t.match(listOf().operation, {
    surface: 'user',
    method: 'GET',
    credential: 'session',
    scopes: ['things.read'],
  })
  t.match(listOf({ surface: 'partner' }).operation, { surface: 'partner' })
  t.same(
    [listOf().operation.denies, listOf({ path: '/user/v1/things/{id}/parts' }).operation.denies],
    [[], [404]],
  )
})
