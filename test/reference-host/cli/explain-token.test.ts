import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { runCommand } from '@gatewright/reference-host'
import { SignJWT } from 'jose'
import t from 'tap'
import { runNode } from '../../harness/node.ts'
import { PROGRAMS } from '../../harness/programs.ts'
import { signingKey } from '../../scope-guard/issuer.ts'
import { temporaryFolder } from '../../harness/files.ts'

const key = await signingKey('ES256', 'k1')
const issuer = 'https://login.example'
const audience = 'https://api.example'
const now = Math.floor(Date.now() / 1000)
const good = {
  iss: issuer,
  aud: audience,
  sub: 'ann',
  client_id: 'shop',
  jti: 't1',
  scope: 'cards.read',
  iat: now,
  exp: now + 900,
}
const dir = temporaryFolder(t)
writeFileSync(join(dir, 'keys.json'), JSON.stringify({ keys: [key.jwk] }))
writeFileSync(join(dir, 'bad.json'), '<html>')
const keys = join(dir, 'keys.json')
const guard = ['--issuer', issuer, '--audience', audience, '--keys', keys]

const sign = (claims: object, header: object = {}): Promise<string> =>
  new SignJWT({ ...good, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', typ: 'at+jwt', ...header })
    .sign(key.privateKey)

async function explain(token: string, args: readonly string[] = guard) {
  const run = await runCommand(['explain-token', ...args], {
    env: {},
    ask: undefined,
    input: async () => token,
  })
  const [, , signature = ''] = token.split('.')
  t.ok(signature === '' || !(run.out + run.problem).includes(signature), 'the signature is never printed')
  return run
}

t.test('prints header and claims of an accepted token, and what the guard reads from it', async t => {
  const token = await sign({})
  for (const text of [token, ` ${token}\n`, `Bearer ${token}`]) {
    const { code, out } = await explain(text)
    t.equal(code, 0)
    t.match(out, /^Header: \{/)
    t.match(out, '"kid": "k1"')
    t.match(out, '"client_id": "shop"')
    t.match(out, /Accepted until .* Account: ann\. Limits per key count: shop\/ann\./)
    t.match(out, 'Scopes: cards.read.')
  }
})

t.test('names the check that fails, what was expected and what the token has', async t => {
  const cases: readonly (readonly [Promise<string>, RegExp])[] = [
    [
      sign({ iss: `${issuer}/` }),
      /wrong issuer\nExpected "https:\/\/login.example", the token has "https:\/\/login.example\/"/,
    ],
    [sign({ aud: ['x'] }), /wrong audience\nExpected "https:\/\/api.example", the token has \["x"\]/],
    [sign({ aud: undefined }), /wrong audience\nExpected .* the token has none/],
    [sign({}, { typ: 'JWT' }), /wrong typ\nExpected "at\+jwt", the token has "JWT"/],
    [sign({}, { kid: 'k2' }), /unknown key\nThe key set has no key .* kid "k2"/],
    [sign({ exp: now - 5 }), /401 session_expired\): session_expired\nIt expired at 20/],
    [sign({ nbf: now + 90 }), /not valid yet\nIt is valid from 20/],
    [sign({ iat: now + 90 }), /issued in the future\nIt was issued at 20/],
    [sign({ jti: undefined }), /claims do not describe a session/],
    [sign({}).then(token => `${token.slice(0, -20)}${'A'.repeat(20)}`), /invalid signature/],
    [Promise.resolve('not-a-token'), /Header: not a JSON object\n[^]*not a canonical compact JWS/],
  ]
  for (const [token, message] of cases) {
    const { code, out } = await explain(await token)
    t.equal(code, 0)
    t.match(out, message)
    t.match(out, 'docs/401.md')
  }
})

t.test('with --json prints data; a preset and a typ are those of the guard', async t => {
  const token = await sign({ azp: 'shop', client_id: undefined }, { typ: 'JWT' })
  const data = async (args: readonly string[]): Promise<unknown> =>
    JSON.parse((await explain(token, [...guard, '--json', ...args])).out)
  t.match(await data([]), {
    accepted: false,
    reason: 'wrong typ',
    header: { typ: 'JWT' },
    claims: { sub: 'ann' },
  })
  t.match(await data(['--preset', 'auth0']), { accepted: true, accountId: 'ann', scopes: ['cards.read'] })
  t.match(await data(['--typ', 'JWT']), { accepted: false, reason: 'claims do not describe a session' })
})

t.test('finds the keys from the issuer, and says which URL failed', async t => {
  const server = createServer((_, response) => void response.writeHead(404).end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const local = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { code, out } = await explain(await sign({ iss: local }), ['--issuer', local, '--audience', audience])
  t.equal(code, 0)
  t.match(out, /Not checked \(503\): .*openid-configuration: HTTP 404/)
  const { out: remote } = await explain(await sign({}), [...guard.slice(0, 4), '--keys', `${local}/jwks`])
  t.match(remote, /Not checked \(503\): the key set .*\/jwks is unavailable/)
})

t.test('without issuer or audience, only decodes, and contacts nobody', async t => {
  const { out } = await explain(await sign({}), [])
  t.match(out, '"sub": "ann"')
  t.match(out, 'Not checked: give --issuer and --audience')
})

t.test('refuses a token as an argument without printing it, no token, and unusable options', async t => {
  const token = await sign({})
  const argument = await runCommand(['explain-token', token], { env: {}, ask: undefined })
  t.match(argument, { code: 2, out: '', problem: /explain-token takes no arguments/ })
  t.notMatch(argument.problem, token)
  t.match(await explain('\n'), { code: 2, problem: /reads the token from the standard input or from --file/ })
  t.match(await explain(token, ['--file', join(dir, 'none')]), { code: 1, problem: /cannot read .*none/ })
  t.match(await explain(token, [...guard.slice(0, 4), '--keys', join(dir, 'bad.json')]), {
    code: 2,
    problem: /must be a JSON Web Key Set/,
  })
  t.match(await explain(token, ['--issuer', 'x', '--audience', 'a']), {
    code: 2,
    problem: /issuer must be an https: URL/,
  })
  t.match(await explain(token, [...guard, '--preset', 'x']), { code: 2, problem: /preset must be "rfc9068"/ })
})

t.test('reads the token from a file, in a process of its own without any store', async t => {
  const file = join(dir, 'token.txt')
  writeFileSync(file, await sign({}))
  const { code, output } = await runNode([PROGRAMS.command, 'explain-token', ...guard, '--file', file], {
    PATH: process.env['PATH'],
  })
  t.equal(code, 0)
  t.match(output, 'Accepted until')
})
