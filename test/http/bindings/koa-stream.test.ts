import { createServer } from 'node:http'
import { connect } from 'node:net'
import { gate } from '@gatewright/http'
import { StreamedBody, storedForm } from '@gatewright/http/internal'
import { koaGate } from '@gatewright/http/koa'
import Koa from 'koa'
import t from 'tap'
import { listen } from '../../harness/listen.ts'

t.test('sends a body piece by piece, as fast as the client reads it', async t => {
  const made: string[] = []
  let reportEnd: (pieces: number) => void = () => {}
  const ended = new Promise<number>(resolve => (reportEnd = resolve))
  const bodies: Record<string, () => AsyncGenerator<string>> = {
    async *'/short'() {
      yield 'a,'
      yield 'b'
    },
    async *'/long'() {
      try {
        for (let n = 0; n < 10_000; n += 1) {
          made.push(String(n))
          yield 'x'.repeat(65_536)
        }
      } finally {
        reportEnd(made.length)
      }
    },
    async *'/broken'() {
      yield 'half'
      throw new Error('the store is down')
    },
  }
  const api = gate({ report: ({ error }) => t.error(error) })
  const koa = koaGate(api, { body: 'stream' })
  const app = new Koa()
  app.silent = true
  app.use(
    koa.handle(api.open('stream'), ({ facts }) => ({
      status: 200,
      headers: [['Content-Type', 'text/csv']],
      body: new StreamedBody((bodies[facts.path] as () => AsyncGenerator<string>)()),
    })),
  )
  const url = await listen(t, createServer(app.callback()))

  const short = await fetch(`${url}/short`)
  t.match([short.headers.get('content-type'), short.headers.get('content-length')], ['text/csv', null])
  t.equal(await short.text(), 'a,b')
  await t.rejects(
    fetch(`${url}/broken`).then(response => response.text()),
    'the client sees that the body is incomplete',
  )

  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.pause()
  socket.write('GET /long HTTP/1.1\r\nHost: a\r\n\r\n')
  // The buffers between the host and the client are full when nothing more is made for a while.
  for (let before = -1; made.length === 0 || made.length > before; ) {
    before = made.length
    for (let turn = 0; turn < 1000; turn += 1) await new Promise(setImmediate)
  }
  t.ok(made.length < 1000, `made ${made.length} of 10000 pieces for a client that reads nothing`)
  socket.destroy()
  t.ok((await ended) <= made.length + 1, 'a client that has gone ends it')
})

t.test('a body that is sent piece by piece is never stored', t => {
  const body = new StreamedBody((async function* () {})())
  const response = { status: 200, headers: [], body }
  t.throws(() => storedForm({ kind: 'response', response }), /cannot be stored/)
  t.end()
})
