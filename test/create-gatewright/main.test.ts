import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { FRAMEWORKS, STORES } from '#packages/create-gatewright/dist/choices.js'
import { projectFiles } from '#packages/create-gatewright/dist/project.js'
import { filesBelow, temporaryFolder } from '../harness/files.ts'

const MAIN = resolve('packages/create-gatewright/dist/main.js')
const VALID = {
  framework: 'express',
  issuer: 'https://auth.example/',
  audience: 'https://api.example',
  store: 'memory',
} as const

/** Makes an empty folder for one test. */
function emptyFolder(t: Test): string {
  const folder = temporaryFolder(t)
  return folder
}

/** Calls the command in an empty folder, without a terminal. */
function create(
  t: Test,
  directory: string,
  given: Readonly<Record<string, string>> = {},
  folder = emptyFolder(t),
) {
  const flags = Object.entries({ ...VALID, ...given }).flatMap(([name, value]) => [`--${name}`, value])
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, directory, ...flags], {
    cwd: folder,
    encoding: 'utf8',
    env: {},
  })
  return { status, stdout, stderr, project: join(folder, directory) }
}

const namesOf = (project: string): string[] =>
  filesBelow(project, '')
    .map(path => path.slice(project.length + 1))
    .toSorted()

/** The files of a project for each framework and store. */
const projects = FRAMEWORKS.flatMap(framework =>
  STORES.map(store => projectFiles({ ...VALID, directory: `${framework}-${store}`, framework, store })),
)

t.test('writes six files for each framework and store', t => {
  const ofNext = ['src/app/api/payments/route.ts', 'src/payments.test.ts', 'src/payments.ts']
  const ofOthers = ['.gitignore', 'src/app.test.ts', 'src/app.ts']
  t.equal(projects.length, 32)
  t.same(
    projects.map(files => Object.keys(files).toSorted()),
    FRAMEWORKS.flatMap(framework => {
      const own = framework === 'next' ? ofNext : ofOthers
      return STORES.map(() => ['README.md', 'package.json', 'tsconfig.json', ...own].toSorted())
    }),
  )
  const { status, stderr, project } = create(t, 'api')
  t.equal(status, 0, stderr)
  const files = projectFiles({ ...VALID, directory: 'api' })
  t.same(namesOf(project), Object.keys(files).toSorted())
  for (const [path, text] of Object.entries(files))
    t.equal(readFileSync(join(project, path), 'utf8'), text, path)
  t.end()
})

t.test('installs what this repository tests with', t => {
  const own = JSON.parse(readFileSync('package.json', 'utf8')) as { devDependencies: Record<string, string> }
  const tested: Record<string, string> = { ...own.devDependencies, gatewright: '0.1.0' }
  const ofNext = readFileSync('test/workspace/quick-starts/next.ts', 'utf8')
  const installed = projects.flatMap(files => {
    const manifest = JSON.parse(files['package.json'] as string) as {
      dependencies: Record<string, string>
      devDependencies: Record<string, string>
    }
    return Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
  })
  t.ok(installed.length > 100)
  const untested = installed.filter(([name, range]) => {
    const version = range.replace('^', '')
    return tested[name] !== version && !ofNext.includes(`'${name}@${version}'`)
  })
  t.same(untested, [])
  t.end()
})

const refused: Readonly<Record<string, readonly [given: Record<string, string>, says: RegExp]>> = {
  'an unknown framework': [
    { framework: 'expres' },
    /--framework must be one of express, fastify, .*, got "expres"/,
  ],
  'an unknown store': [{ store: 'mysql' }, /--store must be one of memory, .*, got "mysql"/],
  'an issuer that is not a URL': [
    { issuer: 'auth.example' },
    /--issuer must be the https URL .*"auth\.example"/,
  ],
  'an issuer over http on another machine': [
    { issuer: 'http://auth.example/' },
    /--issuer must be the https URL/,
  ],
  'an issuer with a query': [{ issuer: 'https://auth.example/?a=b' }, /--issuer must be the https URL/],
  'an issuer with credentials': [{ issuer: 'https://a:b@auth.example/' }, /--issuer must be the https URL/],
  'an audience with a space': [{ audience: 'my api' }, /--audience must be the aud of the tokens/],
  'an unknown flag': [{ isuer: 'https://auth.example/' }, /Unknown option '--isuer'[^]*--issuer URL/],
}
for (const [title, [given, says]] of Object.entries(refused)) {
  t.test(`refuses ${title}, says what to write, and writes nothing`, t => {
    const { status, stderr, project } = create(t, 'api', given)
    t.equal(status, 1)
    t.match(stderr, says)
    t.notMatch(stderr, /\bat .*\.js:\d+/, 'no stack')
    t.throws(() => namesOf(project), { code: 'ENOENT' })
    t.end()
  })
}

t.test('refuses a folder that is not empty, and a file', t => {
  const folder = emptyFolder(t)
  mkdirSync(join(folder, 'api'))
  for (const file of ['api/a.txt', 'file']) writeFileSync(join(folder, file), 'a')
  t.match(create(t, 'api', {}, folder), {
    status: 1,
    stderr: /api is not empty \(it has a\.txt\): name a new folder/,
  })
  t.match(create(t, 'file', {}, folder), { status: 1, stderr: /file is a file: name a new folder/ })
  t.same(namesOf(folder), ['api/a.txt', 'file'])
  t.end()
})

t.test('writes into an empty folder and into an empty repository', t => {
  const folder = emptyFolder(t)
  mkdirSync(join(folder, 'api/.git'), { recursive: true })
  writeFileSync(join(folder, 'api/.git/HEAD'), '')
  t.equal(create(t, 'api', {}, folder).status, 0)
  t.end()
})

t.test('without a terminal, names the flags that are missing', t => {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, 'api', '--framework', 'koa'], {
    cwd: emptyFolder(t),
    encoding: 'utf8',
    input: '',
  })
  t.equal(status, 1)
  t.match(stderr, /add --issuer, --audience, --store: there is no terminal to ask on/)
  t.end()
})

t.test('prints its flags with --help', t => {
  const { status, stdout } = spawnSync(process.execPath, [MAIN, '--help'], { encoding: 'utf8' })
  t.equal(status, 0)
  t.match(stdout, /--framework NAME {3}express, fastify/)
  t.end()
})

const providers: Readonly<Record<string, string | undefined>> = {
  'https://acme.eu.auth0.com/': 'auth0',
  'https://login.microsoftonline.com/0a/v2.0': 'entra',
  'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_a': 'cognito',
  'https://sso.example/realms/acme': 'keycloak',
  'https://a.clerk.accounts.dev': 'clerk',
  'https://a.supabase.co/auth/v1': 'supabase',
  'https://auth.example/': undefined,
}
t.test('knows the provider by the address of the issuer', t => {
  for (const [issuer, provider] of Object.entries(providers)) {
    const app = projectFiles({ ...VALID, directory: 'api', issuer })['src/app.ts'] as string
    t.equal(/provider: '(.*)'/.exec(app)?.[1], provider, issuer)
  }
  t.end()
})

t.test('an audience with quotes stays a text', t => {
  const files = projectFiles({ ...VALID, directory: 'api', audience: "a'b\\c" })
  t.match(files['src/app.ts'], String.raw`audience: 'a\'b\\c',`)
  t.end()
})
