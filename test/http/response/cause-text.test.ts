// What a line about a fault says of the driver's error.
import t from 'tap'
import { causeText } from '#packages/http/dist/response/cause-text.js'

const error = (message: string, code?: unknown): Error => Object.assign(new Error(message), { code })

class TimeoutError extends Error {}

t.test('names the code and the message of a driver', async t => {
  for (const [cause, text] of [
    [error('database is locked', 'SQLITE_BUSY'), 'SQLITE_BUSY database is locked'],
    [error('connect ECONNREFUSED 127.0.0.1:6379', 'ECONNREFUSED'), 'connect ECONNREFUSED 127.0.0.1:6379'],
    [error('relation "gw_nonces" does not exist', '42P01'), '42P01 relation "gw_nonces" does not exist'],
    [error('Connection terminated unexpectedly'), 'Connection terminated unexpectedly'],
    [
      new AggregateError([error('connect ECONNREFUSED ::1:5432', 'ECONNREFUSED')]),
      'connect ECONNREFUSED ::1:5432',
    ],
    [new TimeoutError(), 'TimeoutError'],
    ['text', undefined],
    [undefined, undefined],
    [new AggregateError([]), undefined],
  ] as const) {
    t.equal(causeText(cause), text)
  }
})

t.test('leaves out what may repeat the values of a statement', async t => {
  for (const [cause, text] of [
    [error('invalid input syntax for type integer: "secret"', '22P02'), '22P02'],
    [error('duplicate key value violates unique constraint', '23505'), '23505'],
    [error('own text', 'P0001'), 'P0001'],
    [
      error("ERR unknown command 'EVALX', with args beginning with: 'secret' 'sec"),
      "ERR unknown command '...', with args beginning with: '...' '...'",
    ],
    [error('a code that is no code', 'x y'), 'a code that is no code'],
  ] as const) {
    t.equal(causeText(cause), text)
  }
})

t.test('is one printable line of bounded length', async t => {
  const text = causeText(error(`a\nb\u001b[31m${'x'.repeat(10_000)}`)) ?? ''
  t.match(text, /^[\u0020-\u007e]{200}$/)
})
