import { nothingHappened } from '@gatewright/kernel'
import { saysNothingHappened } from '@gatewright/kernel/internal'
import t from 'tap'

t.test('marks an error and returns the same object', async t => {
  const error = new Error('card number is malformed')
  t.equal(nothingHappened(error), error)
  t.ok(saysNothingHappened(error))
  t.ok(saysNothingHappened(nothingHappened(error)), 'a second call changes nothing')
})

t.test('adds nothing that a log or JSON shows', async t => {
  const error = nothingHappened(Object.assign(new Error('no'), { status: 422 }))
  t.same(Object.keys(error), ['status'])
  t.equal(JSON.stringify(error), '{"status":422}')
})

t.test('reads the mark of another copy of the package', async t => {
  const error = new Error('marked elsewhere')
  Object.defineProperty(error, Symbol.for('gatewright.nothingHappened'), { value: true })
  t.ok(saysNothingHappened(error))
})

t.test('does not read the mark from a class, a cause or an object made from a marked one', async t => {
  class Invalid extends Error {}
  Object.defineProperty(Invalid.prototype, Symbol.for('gatewright.nothingHappened'), { value: true })
  t.notOk(saysNothingHappened(new Invalid()))
  const marked = nothingHappened(new Error('inner'))
  t.notOk(saysNothingHappened(new Error('outer', { cause: marked })))
  t.notOk(saysNothingHappened(Object.create(marked)))
  t.notOk(saysNothingHappened({ ...marked }))
})

t.test('accepts any thrown value, and none but a marked object says that nothing happened', async t => {
  for (const thrown of [undefined, null, 'text', 422, Symbol('s'), {}, new Error('plain'), () => 1])
    t.notOk(saysNothingHappened(thrown))
  const hostile = new Proxy(new Error('x'), {
    getOwnPropertyDescriptor() {
      throw new Error('trap')
    },
  })
  t.notOk(saysNothingHappened(hostile))
})

t.test('refuses a value that cannot have the mark', async t => {
  for (const value of ['text', null, Object.freeze(new Error('frozen'))])
    t.throws(() => nothingHappened(value as object), {
      name: 'TypeError',
      message: /expected an error object/,
    })
})
