import { manualClock } from '@gatewright/kernel/testing'
import { readConfig, startHost } from '@gatewright/reference-host'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose'
import t, { type Test } from 'tap'
import { gatewright } from '../harness/gatewright.ts'
import { bearer, bootstrapUser, request, type RequestOptions } from '../harness/host.ts'
import { temporaryFolder } from '../harness/files.ts'

/** A data folder and the hosts that run on it. */
function setUp(t: Test, clock = manualClock(Date.now())) {
  const dataDir = temporaryFolder(t)
  return {
    clock,
    /** Runs a host in this process while `work` runs. */
    async withHost<T>(algorithm: string, work: (on: OnHost) => Promise<T>): Promise<T> {
      const config = readConfig({ PORT: '0', DATA_DIR: dataDir, SIGNING_ALGORITHM: algorithm })
      if (!config.ok) throw new Error(config.problems.join())
      const host = await startHost(config.value, { observe: () => {}, report: () => {}, clock })
      const send = (path: string, options?: RequestOptions) => request(host.url, path, options)
      const keySet = async () => {
        const response = await fetch(`${host.url}/.well-known/jwks.json`)
        return (await response.json()) as JSONWebKeySet
      }
      return work({ send, keySet }).finally(() => host.close())
    },
    async gatewright(algorithm: string, ...args: string[]): Promise<string> {
      const env = { DATA_DIR: dataDir, SIGNING_ALGORITHM: algorithm }
      const { code, output } = await gatewright(args, env)
      if (code !== 0) throw new Error(output)
      return output
    },
  }
}

interface OnHost {
  send(path: string, options?: RequestOptions): ReturnType<typeof request>
  keySet(): Promise<JSONWebKeySet>
}

const algorithmOf = (token: string): string | undefined => decodeProtectedHeader(token).alg
const algorithms = async ({ keySet }: OnHost): Promise<unknown> => (await keySet()).keys.map(({ alg }) => alg)

t.test('signs with the configured algorithm from the first start', async t => {
  await setUp(t).withHost('ES256', async on => {
    const user = await bootstrapUser(on.send)
    t.equal(algorithmOf(user.token), 'ES256')
    t.match(await on.send('/user/v1/keys', { headers: bearer(user.token) }), { status: 200 })
    t.same(await algorithms(on), ['ES256'])
  })
})

t.test('changes from EdDSA to ES256 by rotation, and accepts tokens of both during the overlap', async t => {
  const { clock, withHost, gatewright } = setUp(t)
  const day = { sessionTtlSeconds: 86_400 }
  const old = await withHost('EdDSA', on => bootstrapUser(on.send, day, clock.now()))
  t.equal(algorithmOf(old.token), 'EdDSA')

  await withHost('ES256', async on => {
    t.same(await algorithms(on), ['EdDSA'], 'the variable alone changes no existing key')
    t.equal(algorithmOf((await bootstrapUser(on.send, {}, clock.now())).token), 'EdDSA')
  })

  t.match(await gatewright('ES256', 'signing-keys', 'rotate'), /successor is announced/)
  const listed = await gatewright('ES256', 'signing-keys', 'list')
  t.match(listed, /^KID +ALGORITHM +STATE\n[^]*ES256 +announced\n[^]*EdDSA +active/)

  await withHost('ES256', async on => {
    const { send, keySet } = on
    t.same(await algorithms(on), ['ES256', 'EdDSA'], 'verifiers see the next key before it signs')
    t.equal(algorithmOf((await bootstrapUser(send, {}, clock.now())).token), 'EdDSA')
    clock.advance(400_000)
    const fresh = await bootstrapUser(send, {}, clock.now())
    t.equal(algorithmOf(fresh.token), 'ES256')
    for (const { token } of [old, fresh]) {
      t.match(await send('/user/v1/keys', { headers: bearer(token) }), { status: 200 })
      await jwtVerify(token, createLocalJWKSet(await keySet()), { currentDate: new Date(clock.now()) })
    }
    clock.advance(86_500_000)
    t.same(await algorithms(on), ['ES256'], 'the old key is dropped when its last token has expired')
    t.match(await send('/user/v1/keys', { headers: bearer(old.token) }), { status: 401 })
  })
})
