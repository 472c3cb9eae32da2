import t from 'tap'
import { startExample } from './start.ts'

t.test(
  'examples/legacy-fastify serves old names like new ones, says so, and reports who uses them',
  async t => {
    const { url, stop } = await startExample(t, 'legacy-fastify')
    const send = (path: string, headers: Record<string, string> = {}, body?: object) =>
      fetch(url + path, {
        method: body ? 'POST' : 'GET',
        headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })

    const current = await send('/user/v1/keys', { 'x-user-key': 'ann' })
    t.equal(current.headers.get('deprecation'), null)
    const old = await send('/consumer/v1/keys', { 'x-consumer-key': 'ann' })
    t.same(await old.json(), await current.json())
    t.equal(old.headers.get('deprecation'), '@1767225600')
    t.equal(old.headers.get('sunset'), 'Fri, 01 Jan 2027 00:00:00 GMT')
    t.equal(
      old.headers.get('link'),
      '<https://example.com/docs/legacy>; rel="deprecation", </user/v1/keys>; rel="successor-version"',
    )

    const created = await send('/consumer/v1/keys', {}, { rights: ['card.read'] })
    t.same(await created.json(), { userKeyId: 'key_1', consumerKeyId: 'key_1', scopes: ['cards.read'] })
    const missing = await send('/consumer/v1/nothing')
    t.equal(missing.status, 404)
    t.equal(missing.headers.get('deprecation'), '@1767225600', 'errors say it too')
    t.equal((await send('/user/v1/keys', { 'x-consumer-key': 'ann', 'x-user-key': 'eve' })).status, 400)
    const gone = await send('/api/keys')
    t.equal(gone.status, 410)
    t.match(await gone.json(), { error: 'gone', message: '/api is gone: use /user/v1' })

    const report = await (await send('/report')).text()
    t.match(report, /^prefix:\/consumer\/v1 +deprecated +2027-01-01 +ann +1 /m)
    t.match(report, /^prefix:\/consumer\/v1 +deprecated +2027-01-01 +anonymous +2 /m)
    t.match(report, /^prefix:\/api +gone +- +anonymous +1 /m)
    t.match(report, /^scope:user:card\.read /m)
    t.equal(await stop(), 0)
  },
)
