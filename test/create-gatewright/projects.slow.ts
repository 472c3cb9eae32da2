// Generates a project of each framework from packed packages, compiles it and runs its test. Frameworks, stores and issuers take turns.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { plainNode } from '../harness/node.ts'
import { freePort } from '../harness/services.ts'
import { serving } from '../harness/serving.ts'
import { turnOf } from '../harness/turns.ts'
import { installInto, pinned } from '../workspace/empty-project.ts'
import { packTo } from '../workspace/pack.ts'
import { temporaryFolder } from '../harness/files.ts'

const directory = temporaryFolder(t)
/** All projects are below it, so they share its node_modules. */
const parent = join(directory, 'parent')
const PACKAGES = ['kernel', 'http', 'scope-guard', 'idempotency-store', 'gatewright', 'create-gatewright']
/** What the projects install of npm. Next.js itself is not needed to compile and test its route. */
const OTHERS = [
  '@hono/node-server',
  '@koa/router',
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/platform-express',
  '@types/express',
  '@types/koa',
  '@types/node',
  '@types/pg',
  'express',
  'fastify',
  'hono',
  'koa',
  'libsql',
  'pg',
  'redis',
  'reflect-metadata',
  'rxjs',
  'typescript',
  'zod',
]
installInto(parent, [
  ...PACKAGES.map(name => packTo(directory, name)),
  ...OTHERS.map(name => pinned(name) as string),
])
mkdirSync(join(parent, 'projects'))

const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] }

/** Generates a project with the installed command. Returns its folder. */
function create(framework: string, store: string, issuer = 'https://auth.example/'): string {
  const project = join(parent, 'projects', `${framework}-${store}-${new URL(issuer).hostname}`)
  const flags = { framework, store, issuer, audience: 'https://payments.example' }
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
  const command = join(parent, 'node_modules/.bin/create-gatewright')
  const { status, stderr } = spawnSync(command, [project, ...args], { encoding: 'utf8', env })
  if (status !== 0) throw new Error(`create-gatewright ended with ${status}: ${stderr}`)
  return project
}

const npmTest = (project: string): { status: number | null; output: string } => {
  const { status, stdout, stderr } = spawnSync('npm', ['test'], { cwd: project, encoding: 'utf8', env })
  return { status, output: stdout + stderr }
}

/** Of these a project is started too. */
const STARTED = ['express', 'nest']
const stores = turnOf(['memory', 'redis', 'postgres', 'sqlite'], 1)
const FRAMEWORKS = ['fastify', 'koa', 'hono', 'next', 'node', 'fetch']
for (const framework of [...STARTED, ...turnOf(FRAMEWORKS, 2)]) {
  for (const store of stores) {
    t.test(`a project of ${framework} with ${store} compiles and passes its test`, async t => {
      const { status, output } = npmTest(create(framework, store))
      t.equal(status, 0, output)
      t.match(output, /^# pass 4$/m)
    })
  }
}

const ISSUERS = [
  'https://acme.eu.auth0.com/',
  'https://sso.example/realms/acme',
  'https://login.microsoftonline.com/0a/v2.0',
  'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_a',
  'https://a.clerk.accounts.dev',
  'https://a.supabase.co/auth/v1',
]
for (const issuer of turnOf(ISSUERS, 1)) {
  t.test(`a project for the tokens of ${issuer} passes its test`, async t => {
    const { status, output } = npmTest(create('express', 'memory', issuer))
    t.equal(status, 0, output)
  })
}

const STORES = {
  REDIS_URL: process.env['TEST_REDIS_URL'],
  DATABASE_URL: process.env['TEST_POSTGRES_URL'],
}
for (const framework of STARTED) {
  for (const store of stores) {
    const title = `a started project of ${framework} with ${store} opens its store and denies requests without a token`
    t.test(title, async t => {
      const project = join(parent, 'projects', `${framework}-${store}-auth.example`)
      const start = /"start": "tsc && node (.*)"/.exec(readFileSync(join(project, 'package.json'), 'utf8'))
      const port = await freePort()
      const child = plainNode((start?.[1] ?? '').split(' '), {
        cwd: project,
        env: { ...env, ...STORES, PORT: String(port) },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      t.teardown(() => child.kill('SIGKILL'))
      const url = `http://127.0.0.1:${port}`
      await serving(`${url}/none`, child)
      t.equal((await fetch(`${url}/payments`, { method: 'POST' })).status, 401)
    })
  }
}
