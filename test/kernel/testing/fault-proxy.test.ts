import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { faultProxy } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'

/** A server that replies to each message with its name and the message, and a proxy before it. */
async function setUp(t: Test, name = 'one') {
  const received: string[] = []
  const open = new Set<Socket>()
  const server = createServer(socket => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('data', bytes => {
      received.push(String(bytes))
      socket.write(`${name}:${String(bytes)}`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return { url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}/path`, received }
}

/** Connects through the proxy. `send` resolves to the reply, or to `closed`. */
async function client(t: Test, url: string) {
  const { hostname, port, pathname } = new URL(url)
  t.equal(pathname, '/path')
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return {
    send(message: string): Promise<string> {
      socket.write(message)
      return Promise.race([
        once(socket, 'data').then(([bytes]) => String(bytes)),
        once(socket, 'close').then(() => 'closed'),
      ])
    },
  }
}

t.test('passes bytes on, and changes or cuts replies as it is told', async t => {
  const { url, received } = await setUp(t)
  const proxy = await faultProxy(url, reply => Buffer.from(String(reply).toUpperCase()))
  t.teardown(proxy.close)
  const first = await client(t, proxy.url)
  t.equal(await first.send('a'), 'one:a')
  proxy.harm = 'malformed'
  t.equal(await first.send('b'), 'ONE:B')
  proxy.harm = 'cutAfter'
  t.equal(await first.send('c'), 'closed')
  proxy.harm = 'none'
  const second = await client(t, proxy.url)
  proxy.harm = 'cutBefore'
  t.equal(await second.send('d'), 'closed')
  t.same(
    received,
    ['a', 'b', 'c'],
    'the server has the request whose reply was cut, and not the one that was cut',
  )
  t.equal(proxy.accepted, 2)
})

t.test('keeps the bytes of silent connections, and leads later ones elsewhere', async t => {
  const { url, received } = await setUp(t)
  const other = await setUp(t, 'two')
  const proxy = await faultProxy(url)
  t.teardown(proxy.close)
  const silenced = await client(t, proxy.url)
  t.equal(await silenced.send('a'), 'one:a')
  proxy.silence()
  const kept = silenced.send('b')
  const present = await client(t, proxy.url)
  t.equal(await present.send('c'), 'one:c')
  proxy.lead(other.url)
  t.equal(await kept, 'closed')
  t.equal(await present.send('d'), 'closed')
  t.equal(await (await client(t, proxy.url)).send('e'), 'two:e')
  t.same(received, ['a', 'c'])
  t.same(other.received, ['e'])
})
