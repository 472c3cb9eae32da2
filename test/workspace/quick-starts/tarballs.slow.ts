// What the README and each quick start say, done in an empty folder from tarballs: a row of the table is a server or
// runtime. They take turns.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { compile } from '../../harness/compile.ts'
import { freePort } from '../../harness/services.ts'
import { serving } from '../../harness/serving.ts'
import { turnOf } from '../../harness/turns.ts'
import { installInto, pinned } from '../empty-project.ts'
import { importsOf, packageOf } from '../imports.ts'
import { codeOf, type Place } from './pages.ts'
import { provider } from './provider.ts'
import { STACKS, type Stack } from './stacks.ts'
import { isOwn, tarballsIn } from './tarballs.ts'
import { temporaryFolder } from '../../harness/files.ts'

const directory = temporaryFolder(t)
const tarballsOf = tarballsIn(directory)

/** The packages that the page installs. The README has no install line: those that its code imports. */
function packagesNamedOn(page: string): string[] {
  const [, line] = readFileSync(page, 'utf8').match(/^npm install ((?:@?gatewright).*)$/m) ?? []
  const names = line?.split(' ') ?? imported(page)
  return tarballsOf(names)
}
const imported = (page: string): string[] => [
  ...new Set(importsOf(codeOf(page)).flatMap(({ specifier }) => packageOf(specifier) ?? [])),
]
/** The other packages that the code needs, in the versions that this repository tests with unless the stack names one. */
function otherPackages({ page, has = [] }: Stack): string[] {
  const names = [...has, ...imported(page).filter(name => !isOwn(name))]
  return names.map(name => pinned(name) ?? name)
}

const { url: issuer, sign } = await provider(t)
const stacks = await Promise.all(
  turnOf(Object.entries(STACKS), 4).map(async ([name, stack], index) => {
    const place: Place = { issuer, port: await freePort() }
    return { name, stack, place, file: `stack_${index}` }
  }),
)
const modules = stacks.flatMap(({ stack, place, file }) =>
  stack.compiled ? [[`${file}.ts`, stack.compiled(place)] as const] : [],
)
t.equal(await compile('quick-start-stacks', Object.fromEntries(modules)), '')

const COLUMNS = ['accepted', 'no token', 'wrong scope', 'replayed', 'cap'] as const
const table: Record<string, string>[] = []

/** Asks a server for each column. */
async function ask(t: Test, url: string, { read, write, page }: Stack): Promise<Record<string, string>> {
  const isReadme = page === 'README.md'
  const token = (scope: string): Promise<string> =>
    sign('RS256', {
      iss: issuer,
      aud: isReadme ? 'https://payments.example' : 'https://api.example',
      scope,
    })
  const bearer = `Bearer ${await token('payments.read payments.write')}`
  const post = (key: string, authorization: string | null = bearer): Promise<Response> =>
    fetch(url + write, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': key,
        ...(authorization && { authorization }),
      },
      body: JSON.stringify({ name: 'a', amountCents: 2500 }),
    })
  const first = await post('write-0001')
  const reply = await first.text()
  t.equal(first.status, 201, reply)
  const accepted = read ? await fetch(url + read, { headers: { authorization: bearer } }) : first
  t.equal(accepted.status, read ? 200 : 201)
  if (read) t.match(await accepted.json(), { owner: 'auth0|ann' })
  const nobody = await post('write-0002', null)
  t.equal(nobody.status, 401)
  const narrow = await post('write-0003', `Bearer ${await token('payments.read')}`)
  t.equal(narrow.status, 403)
  t.match(await narrow.json(), { error: 'insufficient_scope' })
  const replay = await post('write-0001')
  t.equal(replay.status, 201)
  t.equal(replay.headers.get('idempotency-replayed'), 'true')
  t.equal(await replay.text(), reply, 'the stored response')
  // 2,500 of 10,000 is spent: three more fit, whatever order they come in.
  const burst = await Promise.all([4, 5, 6, 7, 8, 9].map(async n => post(`write-000${n}`)))
  const denied = burst.filter(({ status }) => status === 403)
  t.equal(burst.filter(({ status }) => status === 201).length, 3, 'three more fit under the cap')
  t.equal(denied.length, 3)
  for (const response of denied) t.match(await response.json(), { rule: 'dailySpendCapCents' })
  const cells = [accepted, nobody, narrow, replay, denied[0]].map(found => String(found?.status))
  return Object.fromEntries(COLUMNS.map((column, index) => [column, cells[index] as string]))
}

for (const { name, stack, place, file } of stacks) {
  t.test(`${name}: a token, no token, the wrong scope, a repeat and the cap`, async t => {
    const project = join(directory, file)
    installInto(project, [...otherPackages(stack), ...packagesNamedOn(stack.page)])
    const child = await stack.start(project, join('build/quick-start-stacks', `${file}.js`), place)
    t.teardown(() => child.kill('SIGKILL'))
    const url = `http://127.0.0.1:${place.port}`
    await serving(`${url}/none`, child)
    table.push({ server: name, ...(await ask(t, url, stack)) })
  })
}

t.teardown(() => {
  t.comment(`measured ${['server', ...COLUMNS].join(' | ')}`)
  for (const row of table) t.comment(`measured ${Object.values(row).join(' | ')}`)
})
