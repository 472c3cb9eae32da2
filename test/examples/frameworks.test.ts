import t from 'tap'
import { startExample } from './start.ts'

for (const name of ['express', 'koa', 'fastify', 'hono', 'node-http']) {
  t.test(`example ${name} serves what its README says`, async t => {
    const { url, output } = await startExample(t, name)
    const authorization = `Bearer ${/TOKEN=(\S+)/.exec(output)?.[1]}`
    const post = (path: string, key: string): Promise<Response> =>
      fetch(url + path, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', 'idempotency-key': key },
        body: '{"name":"travel"}',
      })

    t.equal((await fetch(`${url}/v1/plans`)).status, 200)
    t.equal((await fetch(`${url}/v1/cards`)).status, 401)
    for (const path of ['/v1/cards', '/v1/orders']) {
      const first = await post(path, `first${path}`)
      const again = await post(path.replace('/v1', '/v0'), `first${path}`)
      t.match([first.status, again.status], [201, 201])
      t.equal(await again.text(), await first.text())
      t.equal(again.headers.get('idempotency-replayed'), 'true')
      t.match(again.headers.get('deprecation'), /^@\d+$/)
    }
    const list = await fetch(`${url}/v1/cards`, { headers: { authorization } })
    t.match(await list.json(), { cards: [{ name: 'travel', owner: 'acc_demo' }] })
  })
}
