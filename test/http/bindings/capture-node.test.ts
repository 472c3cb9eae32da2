// What an existing handler writes is held back until its run has ended.
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { WireResponse } from '@gatewright/http'
import t from 'tap'
import { captureNode } from '#packages/http/dist/bindings/capture-node.js'

type Author = ReturnType<Parameters<typeof captureNode>[0]['watched']['author']>

const INSTEAD: WireResponse = { status: 503, headers: [['X-Instead', 'a']], body: 'instead' }

/** The handler as an author, and whether it ends with the response. */
const handler = (ends: boolean): Author => ({ by: 'handler', ends: async () => ends })

/** A response whose writes are captured, what was asked at its end, and what it would send. */
function capture({
  author = handler(true),
  instead = false,
  fails = false,
  inside = true,
}: {
  author?: Author
  inside?: boolean
  instead?: boolean
  fails?: boolean
} = {}) {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const sent: string[] = []
  const end = response.end.bind(response) as (chunk?: unknown, callback?: () => void) => ServerResponse
  response.end = ((chunk?: unknown, callback?: () => void) => {
    sent.push(Buffer.from((chunk as string | undefined) ?? '').toString())
    return end(chunk, callback)
  }) as typeof response.end
  const asked: unknown[] = []
  const ends: boolean[] = []
  const broken = async (): Promise<never> => Promise.reject(new Error('broken'))
  const run: Pick<
    Parameters<typeof captureNode>[0]['run'],
    'finish' | 'finishCaptured' | 'fail' | 'leaveUnknown'
  > = {
    async finishCaptured(captured) {
      await setImmediate()
      if (fails) return broken()
      asked.push(captured)
      return instead ? INSTEAD : { ...captured, headers: [['X-Added', 'b'], ...captured.headers] }
    },
    async finish(outcome) {
      await setImmediate()
      if (fails || outcome.kind !== 'failure') return broken()
      asked.push((outcome.error as Error).message)
      return INSTEAD
    },
    async fail(failure) {
      await setImmediate()
      asked.push(failure)
    },
    async leaveUnknown(status) {
      await setImmediate()
      asked.push(`left at ${status}`)
    },
  }
  const failRun = captureNode({
    response,
    route: { operation: 'a.b', noEffectStatuses: new Set([422]) },
    run: run as never,
    settings: { responseLimitBytes: 10, hints: { mistake() {} } as never },
    watched: {
      watch: { isInside: () => inside } as never,
      author: () => author,
      end: hadNoEffect => ends.push(hadNoEffect),
    },
  })
  /** Waits until the response has ended, for some turns. */
  const ended = async (): Promise<void> => {
    for (let turns = 0; turns < 10 && !response.writableEnded; turns++) await setImmediate()
  }
  return { response, sent, asked, ends, failRun, ended }
}

t.test('sends what was written in parts when the run has ended, with the fields that it added', async t => {
  const { response, sent, asked, ended } = capture()
  response.writeHead(201, { 'X-Own': 'a' })
  response.flushHeaders()
  let written = false
  t.equal(
    response.write('6162', 'hex', () => (written = true)),
    true,
  )
  t.ok(written, 'the callback of a part')
  t.equal(response.write(Buffer.from('c')), true)
  let finished = false
  t.equal(
    response.end('é', 'latin1' as never, () => (finished = true)),
    response,
  )
  t.notOk(response.headersSent, 'nothing is sent yet')
  t.same(sent, [])
  await ended()
  t.same(sent, [Buffer.concat([Buffer.from('abc'), Buffer.from([0xe9])]).toString()])
  t.match(asked, [{ status: 201, body: '', bodyOmitted: true, headers: [['x-own', 'a']] }])
  t.match(response.getHeaders(), { 'x-own': 'a', 'x-added': 'b' })
  response.emit('finish')
  t.ok(finished, 'the callback of the end')
})

t.test('captures up to the limit in chunks, and fails the run of a larger response', async t => {
  const whole = capture()
  whole.response.write('12345')
  whole.response.write('67890')
  await setImmediate()
  await setImmediate()
  t.same(whole.asked, [])
  whole.response.end()
  await whole.ended()
  t.match(whole.asked, [{ status: 200, body: '1234567890' }])
  const large = capture()
  large.response.write('12345')
  large.response.write('678901')
  t.equal(large.response.write('2'), true, 'later parts are dropped')
  t.equal(large.response.end('3'), large.response)
  await large.ended()
  t.match(large.asked, [/^a\.b wrote more than 10 bytes in chunks/])
  t.equal(large.asked.length, 1)
  t.same(large.sent, ['instead'])
  t.match(large.response, { statusCode: 503 })
  const single = capture()
  single.response.end('12345678901')
  await single.ended()
  t.match(single.asked, [{ bodyOmitted: true }])
  t.same(single.sent, ['12345678901'], 'a large response in one call is sent whole')
})

t.test('ends the run once, and ignores what comes after', async t => {
  const { response, sent, asked, ended, failRun } = capture()
  response.end('one')
  t.equal(response.end('two'), response)
  t.equal(response.write('three'), true)
  await failRun(new Error('late'))
  await ended()
  t.match(asked, [{ body: 'one' }])
  t.equal(asked.length, 1)
  t.same(sent, ['one'])
})

t.test('the run has failed if an error handler wrote the response, or may have written an error', async t => {
  const error = new Error('thrown')
  for (const [author, status, failure] of [
    [handler(true), 400, undefined],
    [handler(true), 500, undefined],
    [{ by: 'error handler', error }, 200, { status: 200, error }],
    [{ by: 'unknown' }, 399, undefined],
    [{ by: 'other' }, 399, undefined],
    [{ by: 'unknown' }, 422, { status: 422 }],
  ] as const) {
    const { response, sent, asked, ended } = capture({ author })
    response.statusCode = status
    response.end('body')
    await ended()
    t.match(asked, [failure ?? { status, body: 'body' }], `${author.by} ${status}`)
    t.same(sent, ['body'])
    t.equal(response.hasHeader('x-added'), failure === undefined)
  }
})

t.test('a response is sent with an unknown outcome unless the handler is known to end with it', async t => {
  for (const author of [handler(false), { by: 'other' }, { by: 'unknown' }] as const) {
    const { response, sent, asked, ends, ended } = capture({ author })
    response.statusCode = 408
    response.setHeader('Content-Type', 'text/plain')
    response.end('late')
    await ended()
    t.match([response.headersSent, sent, asked, ends], [true, ['late'], ['left at 408'], []])
    // The handler goes on.
    response.setHeader('Content-Type', 'application/json').statusCode = 201
    response.end('{}')
    for (let turns = 0; turns < 5; turns++) await setImmediate()
    t.match(asked.slice(1), [{ status: 201, headers: [['content-type', 'application/json']], body: '{}' }])
    t.same([sent, ends], [['late'], [false]])
    response.end('again')
    t.equal(asked.length, 2)
  }
})

t.test('after it, other code sees the response that was sent, and cannot end the run', async t => {
  const { response, asked, ended } = capture({ author: { by: 'other' }, inside: false })
  response.statusCode = 408
  response.end('late')
  await ended()
  response.end('again')
  response.write('again')
  await setImmediate()
  t.same(asked, ['left at 408'])
  t.equal(response.statusCode, 408)
  t.throws(() => response.setHeader('a', 'b'), { code: 'ERR_HTTP_HEADERS_SENT' })
})

t.test('sends another response if another run has completed meanwhile', async t => {
  const { response, sent, ended } = capture({ instead: true })
  response.setHeader('Content-Type', 'text/plain')
  response.end('own')
  await ended()
  t.same(sent, ['instead'])
  t.match(response, { statusCode: 503 })
  t.match({ ...response.getHeaders() }, { 'x-instead': 'a' })
  t.notOk(response.hasHeader('content-type'))
})

t.test('refuses a piped stream with an error that names it', async t => {
  const { response, sent, asked, ended } = capture()
  const stream = Readable.from(['a', 'b'])
  stream.pipe(response)
  await ended()
  t.match(asked, [/^a\.b returned a stream \(Readable\)/])
  t.same(sent, ['instead'])
  t.equal(stream.listenerCount('data'), 0, 'it is no longer piped')
})

t.test('fails the run of a handler that threw', async t => {
  const { sent, asked, failRun } = capture()
  await failRun(new Error('thrown'))
  t.same(asked, ['thrown'])
  t.same(sent, ['instead'])
})

t.test('ends a response with a bare 500 if its run cannot be ended', async t => {
  for (const act of [
    ({ response }: ReturnType<typeof capture>) => response.end('own'),
    ({ response }: ReturnType<typeof capture>) => response.write('12345678901'),
    ({ response }: ReturnType<typeof capture>) => Readable.from(['a']).pipe(response),
  ]) {
    const made = capture({ fails: true })
    act(made)
    await made.ended()
    t.match(made.response, { statusCode: 500, writableEnded: true })
    t.same(made.sent, [''])
  }
})
