// How the query of an operation becomes the values that its handler gets.
import t from 'tap'
import { querySchema } from '#packages/host/dist/http/request/query.js'

const { validate } = querySchema({
  type: 'object',
  required: ['limit', 'unread'],
  properties: {
    limit: { type: 'integer', minimum: 0, maximum: 100, default: 20, expected: 'must be 0 to 100' },
    unread: { type: 'boolean', default: false },
    types: { type: 'array', items: { enum: ['a', 'b'] }, expected: 'must be a list of a and b' },
    name: { type: 'string', pattern: '^[a-z]*$' },
  },
} as never)['~standard']

/** What the handler gets, or the field and the message of the denial. */
function read(query: object): unknown {
  const result = validate(query) as Exclude<ReturnType<typeof validate>, Promise<unknown>>
  if (result.issues === undefined) return result.value
  const [{ path, message } = { message: '' }] = result.issues
  return [path, message]
}
const DEFAULTS = { limit: 20, unread: false }

t.test('a parameter has the type of its schema, and its default where the request has none', async t => {
  t.strictSame(read({}), DEFAULTS)
  t.strictSame(read({ limit: '0', unread: 'true', types: 'a,b', name: 'x' }), {
    limit: 0,
    unread: true,
    types: ['a', 'b'],
    name: 'x',
  })
  t.strictSame(read({ limit: '100', unread: 'false', types: 'b', name: '' }), {
    limit: 100,
    unread: false,
    types: ['b'],
    name: '',
  })
})

t.test('the handler gets no parameter that the schema does not name', async t => {
  t.strictSame(read({ other: '1', limits: '2' }), DEFAULTS)
})

t.test('denies a text that is not of the type, with what the schema expects', async t => {
  for (const limit of ['', '01', '-1', '+1', '1.0', '1e1', ' 1', '101', '9'.repeat(16), 'NaN'])
    t.strictSame(read({ limit }), [['limit'], 'limit must be 0 to 100'], limit)
  for (const types of ['', 'c', 'a,', 'a, b'])
    t.strictSame(read({ types }), [['types'], 'types must be a list of a and b'], types)
  for (const unread of ['', '1', 'TRUE'])
    t.strictSame(read({ unread }), [['unread'], 'unread must be true or false'], unread)
  t.strictSame(read({ name: 'X' }), [['name'], 'name has a wrong form'])
})

t.test('denies a parameter that is given more than once', async t => {
  for (const name of ['limit', 'unread', 'types', 'name'])
    t.strictSame(read({ [name]: ['1', '1'] }), [[name], `${name} must be given once`])
})
