import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { openSentinels } from '#packages/host/dist/storage/sentinel.js'

t.test('a Sentinel that was down gets one question, however often it was asked meanwhile', async t => {
  const got = { questions: 0 }
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.on('data', data => {
      const text = data.toString()
      got.questions += text.split('GET-MASTER-ADDR-BY-NAME').length - 1
      socket.write('-ERR\r\n'.repeat(text.match(/^\*\d+\r$/gm)?.length ?? 0))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  const sentinels = openSentinels({
    sentinels: [`127.0.0.1:${port}`],
    masterName: 'gw',
    tls: false,
    password: undefined,
    limitMs: 100,
  })
  t.teardown(() => {
    sentinels.close()
    server.close()
  })
  for (let n = 0; n < 5; n += 1) t.equal(await sentinels.master(), undefined)
  await once(server.listen(port, '127.0.0.1'), 'listening')
  while (got.questions === 0) await sentinels.master()
  t.equal(got.questions, 1)
})
