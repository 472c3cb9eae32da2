import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@gatewright/reference-host/internal'
import t from 'tap'
import { gatewright, gatewrightProcess } from '../../harness/gatewright.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-help-'))
t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
const env = { DATA_DIR: dataDir, PORT: '0' }
/** A configuration that no command gets past, so that only its arguments are looked at. */
const unusable = { PORT: 'x' }

const overview = (await gatewright(['help'], env)).output
/** Names with their arguments, as the overview lists them. */
const commands = overview
  .split('Commands:\n')[1]
  ?.split('\n\n')[0]
  ?.split('\n')
  .flatMap(line => /^ {2}((?:[a-z-]+ ?){1,2})((?:[A-Z_]+ ?)*) {2,}\S/.exec(line)?.[1]?.trim() ?? [])
  .filter(name => name !== 'help') as string[]

t.test('lists every command, without arguments too', async t => {
  t.ok(commands.length >= 30, 'the commands were found')
  for (const name of ['start', 'keys show', 'users erase', 'data-keys rewrap']) t.ok(commands.includes(name))
  t.equal((await gatewright([], env)).output, overview)
  t.equal((await gatewright(['--help'], env)).output, overview)
})

t.test('explains each command with an example that it accepts', async t => {
  for (const name of commands) {
    const { code, output } = await gatewright(['help', ...name.split(' ')], env)
    t.equal(code, 0)
    t.match(output, `Usage: gatewright ${name} `)
    t.equal((await gatewright([...name.split(' '), '-h'], env)).output, output)
    const example = /Example:\n {2}\$ gatewright (.*)/.exec(output)?.[1] as string
    t.ok(example.startsWith(name), example)
    const words = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? (plain as string),
    )
    // explain-token reads no configuration: its example fails at its file.
    const error = name === 'explain-token' ? /cannot read token\.txt/ : /PORT must/
    t.match(await gatewright([...words, '--yes'], unusable), { code: 1, output: error }, example)
  }
})

t.test('explains a group, and what is missing after it', async t => {
  t.match(await gatewright(['help', 'keys'], env), { code: 0, output: /list <ACCOUNT>/ })
  t.match(await gatewright(['keys'], env), { code: 1, output: /^keys needs one of: list, show, revoke/ })
  t.match(await gatewright(['--json'], env), { code: 1, output: /^gatewright needs one of: / })
  t.match(await gatewright(['keys', 'show', 'a', 'b'], env), { code: 1, output: /^keys show takes KEY_ID/ })
})

t.test('suggests the command or option that was meant', async t => {
  for (const [args, message] of [
    [['key', 'list', 'x'], /unknown command "key"\n\(Did you mean keys\?\)\nSee gatewright --help/],
    [['keys', 'lst', 'x'], /unknown command "keys lst"\n\(Did you mean list\?\)\nSee gatewright keys --help/],
    [['help', 'keys', 'shwo'], /unknown command "keys shwo"\n\(Did you mean show\?\)/],
    [['audit', 'list', '--acount', 'x'], /unknown option '--acount'\n\(Did you mean --account\?\)/],
    [['audit', 'list', '--jsno'], /\(Did you mean --json\?\)/],
    [['audit', 'list', '--limit'], /option '--limit <VALUE>' argument missing/],
  ] as const) {
    t.match(await gatewright(args, env), { code: 1, output: message }, args.join(' '))
  }
})

t.test('prints its version', async t => {
  t.match(await gatewrightProcess(['--version'], env), { code: 0, output: /^\d+\.\d+\.\d+\n$/ })
})

t.test('fits tables to the width of the terminal, and none to --json', async t => {
  const name = `${'漢字'.repeat(30)} and more`
  await gatewright(['partner-keys', 'create', name], env)
  const run = (width: number | undefined, ...args: string[]) =>
    runCommand(args, { env, ask: undefined, width })
  const columns = (line: string): number => line.length + (line.match(/[漢字]/g)?.length ?? 0)
  for (const width of [80, 40, 10]) {
    const lines = (await run(width, 'partner-keys', 'list')).out.split('\n')
    t.equal(lines.length, 2)
    t.ok(
      lines.every(line => columns(line) <= width),
      `${width} columns`,
    )
    t.match(lines[1], /…/)
  }
  t.match((await run(undefined, 'partner-keys', 'list')).out, name)
  t.match((await run(0, 'partner-keys', 'list')).out, name, 'a terminal that does not know its width')
  t.match(JSON.parse((await run(40, 'partner-keys', 'list', '--json')).out), [{ name }])
})

t.test('says that long work has begun, apart from its output', async t => {
  const notes: string[] = []
  const progress = (note: string): void => void notes.push(note)
  const { out } = await runCommand(['ledger', 'check'], { env, ask: undefined, progress })
  t.match(out, /^0 transfers/)
  t.match(notes, [/^Adding up every transfer/])
})
