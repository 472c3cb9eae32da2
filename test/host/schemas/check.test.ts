import t from 'tap'
import * as Type from 'typebox/type'
import { compileSchema } from '#packages/host/dist/schemas/check.js'

const check = compileSchema(
  Type.Object(
    {
      cents: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
      memo: Type.Optional(Type.String({ minLength: 1, maxLength: 2 })),
      ids: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 2, uniqueItems: true })),
      to: Type.Optional(Type.Object({ wallet: Type.String(), chain: Type.String() })),
    },
    { additionalProperties: false },
  ),
)

t.test('says in words what a value must be', async t => {
  for (const [value, message] of [
    [{ cents: 0 }, 'cents must be at least 1'],
    [{ cents: 10 }, 'cents must be at most 9'],
    [{ cents: '5' }, 'cents must be an integer'],
    [{ memo: '' }, 'memo must have at least 1 character'],
    [{ memo: 'abc' }, 'memo must have at most 2 characters'],
    [{ ids: [] }, 'ids must have at least 1 item'],
    [{ ids: ['a', 'b', 'c'] }, 'ids must have at most 2 items'],
    [{ ids: ['a', 'a'] }, 'ids must not have an item twice'],
    [{ to: '0x12' }, 'to must be an object with wallet, chain'],
    [{ to: { wallet: '0x12' } }, 'to.chain is required'],
    [{ amount: 5 }, 'body must not have the member amount'],
    [[], 'body must be an object'],
  ] as const)
    t.equal(check(value)?.message, message)
  t.equal(check({ cents: 1, memo: 'ab', ids: ['a', 'b'] }), undefined)
  t.equal(check({ cents: 9, memo: 'a', ids: ['a'] }), undefined)
})
