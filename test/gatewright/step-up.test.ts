import t from 'tap'
import { SERVERS } from './servers.ts'
import { createWorld, type World } from './world.ts'

const METADATA = 'resource_metadata="https://api.example/.well-known/oauth-protected-resource/v1"'

for (const [name, start] of Object.entries(SERVERS)) {
  t.test(
    `${name}: a token without the scope of a route is told it, and where to get another token`,
    async t => {
      const world = createWorld()
      const protectedResource = {
        resource: 'https://api.example/v1',
        authorizationServers: ['https://login.example'],
      }
      const server = await start({
        ...world,
        options: { ...world.options, gate: { protectedResource } } as World['options'],
      })
      t.teardown(() => server.close())
      const authorization = `Bearer ${await world.token('other.scope')}`
      for (const [method, path, scope] of [
        ['GET', '/payments/pay_1', 'payments.read'],
        ['POST', '/payments', 'payments.write'],
        ['GET', '/existing', 'payments.read'],
        ['POST', '/existing', 'payments.write'],
      ] as const) {
        const response = await fetch(server.url + path, { method, headers: { authorization } })
        t.equal(response.status, 403, `${method} ${path}`)
        t.equal(
          response.headers.get('www-authenticate'),
          `Bearer realm="api", error="insufficient_scope", scope="${scope}", ${METADATA}`,
        )
        await response.body?.cancel()
      }
    },
  )
}
