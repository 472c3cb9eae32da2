import { join } from 'node:path'
import t from 'tap'
import { listen } from '../listen.ts'
import { runTests } from './test-process.ts'

t.test('a server in a process of tests keeps idle connections for as long as a host', async t => {
  const url = await listen(t, (_, response) => response.end())
  // The first response was begun with the default of Node.
  await (await fetch(url)).text()
  const { headers } = await fetch(url)
  t.equal(headers.get('keep-alive'), 'timeout=65')
})

t.test('a connection that is kept when its server is closed does not keep the process', async t => {
  const closes = `import { createServer } from 'node:http'
import { once } from 'node:events'
import t from 'tap'
t.test('closes the server before it responds', async t => {
  const server = createServer(({ url }, response) => {
    if (url === '/last') server.close()
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base = 'http://127.0.0.1:' + server.address().port
  for (const path of ['/first', '/last']) t.equal(await (await fetch(base + path)).text(), '')
})`
  const folder = t.testdir({ 'a.mjs': closes })
  const setting = {
    env: process.env,
    // It is killed after four times as long, before the connection ends.
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    ended: () => {},
  }
  t.match(await runTests({ files: [join(folder, 'a.mjs')], together: 2 }, setting), { failure: undefined })
})
