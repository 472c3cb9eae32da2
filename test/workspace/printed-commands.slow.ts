// Every command that help, errors, pages and docs print, run as it is printed on a host with Postgres. The list with exit codes
// is in build/printed-commands.txt afterwards.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { runCommand } from '@gatewright/reference-host'
import t from 'tap'
import { bearer, bootstrapUser, startTestHost } from '../harness/host.ts'
import { openDivided, recordStatements, refusedStatements } from '../reference-host/harness/partitions.ts'

/** Commands that are not run here, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  start: 'runs until Ctrl-C: test/reference-host/start.test.ts starts hosts',
  listen: 'runs until Ctrl-C: test/reference-host/cli/listen.test.ts',
  'requests tail': 'runs until Ctrl-C: test/reference-host/cli/tail.slow.ts',
  'events tail --follow': 'runs until Ctrl-C: test/reference-host/cli/webhooks.test.ts',
  login: 'waits for a person in a browser: test/reference-host/cli/account.test.ts',
  logout: 'needs a login: test/reference-host/cli/account.test.ts',
  'my-keys': 'needs a login: test/reference-host/cli/account.test.ts',
  approvals: 'needs a login: test/reference-host/cli/approvals.test.ts',
  pay: 'needs a login: test/reference-host/cli/account.test.ts',
  mcp: 'serves a client: test/reference-host/cli/mcp',
  distribute: 'needs a Citus: npm run test:citus',
  backup: 'is for embedded SQLite: test/reference-host/cli/backup.slow.ts',
  restored: 'ends all sessions of the host: test/reference-host/cli/restored.slow.ts',
}

/** A failure that says that an id of an example is not that of this host, or that there is nothing to do. */
const EXPECTED =
  /^no |^nothing |is no longer stored|has 0\.00 USD only|there is nothing to|is not open|is not lost|cannot read token\.txt|needs embedded/

const { env, pool, close } = await openDivided()
const host = await startTestHost(env)
t.teardown(async () => {
  await host.close()
  await close()
})
const user = await bootstrapUser(host.send)
const made = await host.send('/user/v1/keys', { body: { label: 'agent' }, headers: bearer(user.token) })
const keyId = made.body['userKeyId'] as string
const run = (args: readonly string[]) => runCommand(args, { env, ask: undefined, input: async () => keyId })
const signing = JSON.parse((await run(['signing-keys', 'list', '--json'])).out) as { kid: string }[]

/** What a person puts in the place of the words in capitals, and of variables of a shell. */
const PLACES: Readonly<Record<string, string>> = {
  KEY_ID: keyId,
  KEY: keyId,
  OLD_PARTNER_KEY_ID: keyId,
  ACCOUNT: user.userId,
  OPERATION: 'payments.create',
  SINCE: new Date(Date.now() - 60_000).toISOString(),
  KID: signing[0]?.kid ?? '',
  LEAKED_KEY: user.key,
  STATUS: 'approved',
  KIND: 'kyc.submit',
  COUNT: '1',
}

const overview = (await run(['help'])).out
const names: string[] = []
for (const [, word = ''] of overview.matchAll(/^ {2}([a-z][a-z-]*)(?: \[?[A-Z_]+\]?)* {2,}\S/gm)) {
  const { out } = await run(['help', word])
  const listed = [...out.matchAll(new RegExp(`^ {2}(${word} [a-z-]+)(?: |$)`, 'gm'))]
  if (word !== 'help') names.push(...(listed.length === 0 ? [word] : listed.map(([, name = '']) => name)))
}

/** The commands of a text, each to the end of its line, of its code span or of its string. */
function commandsIn(text: string): string[] {
  const whole = text.replaceAll(/ ?\\\n\s*/g, ' ')
  return [...whole.matchAll(/\bnpx gatewright ((?:"[^"\n]*"|'[^'\n]*'|[^`'"\n<>|#;()…])+)/g)].map(
    ([, found = '']) => found.replace(/\$\{[^}]*\}/g, 'ID').trim(),
  )
}

/** Every printed command with the place where it was found first. */
const printed = new Map<string, string>()
const add = (command: string, from: string): void => void (printed.has(command) || printed.set(command, from))
for (const name of names)
  for (const each of commandsIn((await run(['help', ...name.split(' ')])).out.replace(/^Usage.*$/gm, '')))
    add(each, `help ${name}`)
const FILES = ['*.md', 'packages/*/src/*.ts', 'packages/*/browser/*.ts', 'packages/*/browser/*.html']
for (const file of execFileSync('git', ['ls-files', ...FILES], { encoding: 'utf8' })
  .trim()
  .split('\n')) {
  const text = readFileSync(file, 'utf8')
  for (const [, code = ''] of text.matchAll(/^ *```sh\n([^]*?)^ *```$/gm))
    for (const each of commandsIn(code)) add(each, `${file}, sh`)
  for (const each of commandsIn(text)) add(each, file)
}

/** Whether a text prints a whole command, and not the name of one in a sentence. */
const isWhole = (from: string): boolean => from.startsWith('help ') || from.endsWith(', sh')

/** The words of a command line. A command in the middle of a sentence ends before the first word that belongs to no command. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  )

/** The arguments to run: those of a whole command, or its help where a text names a command without its arguments. */
async function argumentsOf(
  command: string,
  from: string,
): Promise<{ readonly name: string; readonly args: string[] } | undefined> {
  const words = wordsOf(command)
  const isName = (count: number): boolean =>
    names.includes(
      words
        .slice(0, count)
        .join(' ')
        .replace(/[.,:]$/, ''),
    )
  const count = isName(2) ? 2 : isName(1) ? 1 : 0
  if (count === 0) return undefined
  const name = words
    .slice(0, count)
    .join(' ')
    .replace(/[.,:]$/, '')
  const help = (await run(['help', ...name.split(' ')])).out
  const [usage = ''] = help.split('\n\n')
  const needed = [...usage.matchAll(/<[^>]+>/g)].length
  const takesValue = new Set([...help.matchAll(/(--[a-z-]+) <VALUE>/g)].map(([, option]) => option))
  const rest: string[] = []
  let positional = 0
  for (const [index, word] of words.slice(count).entries()) {
    const isValue = takesValue.has(words[count + index - 1] ?? '')
    if (!isValue && !word.startsWith('--')) positional += 1
    // The rest of a sentence.
    if (!isWhole(from) && positional > needed) break
    const bare = isWhole(from) ? word.replace(/^\$/, '') : word.replace(/^\$/, '').replace(/[.,:]$/, '')
    rest.push(PLACES[bare] ?? bare)
  }
  return { name, args: [...name.split(' '), ...rest] }
}

const lines: string[] = []

t.test('the commands are linked by an installation, before the first build', t => {
  for (const [name, folder] of [
    ['gatewright', 'reference-host'],
    ['gatewright-dev-issuer', 'gatewright'],
  ] as const) {
    const { bin } = JSON.parse(readFileSync(`packages/${folder}/package.json`, 'utf8')) as {
      bin: Record<string, string>
    }
    const file = `packages/${folder}/${(bin[name] ?? '').replace('./', '')}`
    t.match(
      execFileSync('git', ['ls-files', '-s', file], { encoding: 'utf8' }),
      /^100755 /,
      `${file} is in the repository`,
    )
    const { status, stdout } = spawnSync(process.execPath, [file, '--help'], { encoding: 'utf8' })
    t.equal(status, 0)
    t.ok(stdout.startsWith(`Usage: npx ${name} `), name)
    lines.push(`0  npx ${name} --help`)
  }
  t.end()
})

t.test(
  'every printed command is one, takes what is printed, and fails only for ids that are not here',
  async t => {
    t.ok(printed.size > 100, `${printed.size} commands were found`)
    const recorded = recordStatements()
    for (const [command, from] of printed) {
      const found = await argumentsOf(command, from)
      if (found === undefined) {
        const [word = ''] = wordsOf(command)
        t.ok(
          /^(?:help|--\w+|COMMAND|ID)/.test(word) || names.some(name => name.startsWith(`${word} `)),
          `${from}: npx gatewright ${command}`,
        )
        continue
      }
      const { name, args } = found
      const reason = Object.entries(NOT_RUN).find(([key]) => `${args.join(' ')} `.startsWith(`${key} `))?.[1]
      if (reason !== undefined) {
        lines.push(`-  npx gatewright ${command}   (${reason})`)
        continue
      }
      let result = await run([...args, '--yes'])
      // A sentence that goes on after a command, or names it without its arguments.
      if (result.code === 2 && !isWhole(from)) result = await run([...name.split(' '), '--help'])
      lines.push(
        `${result.code}  npx gatewright ${command}   ${result.problem.split('\n')[0] ?? ''}`.trimEnd(),
      )
      if (result.code !== 0) t.match(result.problem, EXPECTED, `${from}: npx gatewright ${command}`)
    }
    recorded.stop()
    t.same(await refusedStatements(pool, recorded.sent), [], 'Citus runs each of their statements')
  },
)

t.teardown(() => {
  writeFileSync('build/printed-commands.txt', `${lines.join('\n')}\n`)
  for (const line of lines) t.comment(`measured ${line}`)
})
