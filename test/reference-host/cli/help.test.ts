import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { runCommand } from '@gatewright/reference-host'
import t from 'tap'
import { gatewright, gatewrightProcess } from '../../harness/gatewright.ts'
import { PROGRAMS } from '../../harness/programs.ts'
import { temporaryFolder } from '../../harness/files.ts'

const dataDir = temporaryFolder(t)
const env = { DATA_DIR: dataDir, PORT: '0' }
/** A configuration that no command gets past, so that only its arguments are looked at. */
const unusable = { PORT: 'x', XDG_CONFIG_HOME: dataDir }

const overview = (await gatewright(['help'], env)).output
/** The commands of the overview: single words, and groups with their verbs. */
const commands: string[] = []
for (const [, word = ''] of overview.matchAll(/^ {2}([a-z][a-z-]*)(?: [A-Z]+)* {2,}\S/gm)) {
  if (word === 'help') continue
  const { output } = await gatewright(['help', word], env)
  const listed = [...output.matchAll(new RegExp(`^ {2}(${word} [a-z-]+)(?: |$)`, 'gm'))]
  commands.push(...(listed.length === 0 ? [word] : listed.map(([, name]) => name as string)))
}

/** The lines of a text that 80 columns do not hold. */
const tooWide = (text: string): string[] => text.split('\n').filter(line => line.length > 80)

t.test('lists every command by sections in 80 columns, without arguments too', async t => {
  t.ok(commands.length >= 30, 'the commands were found')
  const some = ['start', 'keys show', 'users erase', 'data-keys rewrap']
  t.same(
    some.filter(name => !commands.includes(name)),
    [],
  )
  t.equal((await gatewright([], env)).output, overview)
  t.equal((await gatewright(['--help'], env)).output, overview)
  t.match(overview, /^The host$[^]*^Money$\n {2}ledger +credit, remit, balance, check, repair$/m)
  t.notMatch(overview, /^More$/m, 'every command is in a section')
  t.match(overview, /^ {2}requests +list, show$/m)
  t.match(overview, /^ {2}requests tail {2,}Print/m, 'apart from the commands of operators')
  const groups = new Set(commands.map(name => name.split(' ')[0] as string))
  const wide: string[] = []
  for (const name of new Set(['', ...commands, ...groups])) {
    const { output } = await gatewright(['help', ...name.split(' ').filter(Boolean)], env)
    wide.push(...tooWide(output))
  }
  t.same(wide, [])
})

t.test('explains each command with an example that it accepts', async t => {
  // These read no configuration: their examples fail later.
  const errors: Readonly<Record<string, RegExp>> = {
    'explain-token': /cannot read token\.txt/,
    listen: /PARTNER_KEY must hold/,
    login: /does not answer/,
    logout: /not logged in/,
    mcp: /not logged in/,
    pay: /not logged in/,
    'requests tail': /not logged in/,
  }
  for (const name of commands) {
    const { code, output } = await gatewright(['help', ...name.split(' ')], env)
    assert.equal(code, 0)
    assert.ok(output.includes(`Usage: npx gatewright ${name} `), output)
    assert.equal((await gatewright([...name.split(' '), '-h'], env)).output, output)
    const example = (/Example:\n {2}\$ npx gatewright ([^]*)\n/.exec(output)?.[1] as string).replaceAll(
      ' \\\n',
      ' ',
    )
    assert.ok(example.startsWith(name), example)
    if (name === 'completion') continue
    const words = [...example.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
      ([, double, single, plain]) => double ?? single ?? (plain as string),
    )
    const error = /^(my-keys|approvals) /.test(name) ? /not logged in/ : (errors[name] ?? /PORT must/)
    // A host may run where the examples look for one; nothing listens on port 1.
    const given = words.map(word => word.replace('127.0.0.1:3000', '127.0.0.1:1'))
    const ran = await gatewright([...given, '--yes'], unusable)
    assert.equal(ran.code, 1, example)
    assert.match(ran.output, error, example)
  }
  t.pass('every example was accepted')
})

t.test('names --yes where a command asks, and only there', async t => {
  const asking = [
    'keys revoke',
    'ledger credit',
    'restored',
    'login',
    'pay',
    'my-keys revoke',
    'approvals approve',
  ]
  const silent = [
    'keys list',
    'operations',
    'requests tail',
    'logout',
    'completion',
    'my-keys list',
    'approvals deny',
  ]
  const script = (await gatewright(['completion', 'bash'], env)).output
  for (const name of [...asking, ...silent]) {
    const isAsking = asking.includes(name)
    const { output } = await gatewright(['help', ...name.split(' ')], env)
    t.equal(/^ {2}--yes +do not ask/m.test(output), isAsking, name)
    t.equal(new RegExp(`'${name}'\\) echo '.*--yes`).test(script), isAsking, `completion of ${name}`)
  }
})

t.test('explains a group, and what is missing after it', async t => {
  t.match(await gatewright(['help', 'keys'], env), { code: 0, output: /^ {2}keys list ACCOUNT\n {6}List /m })
  t.match(await gatewright(['keys'], env), { code: 2, output: /^keys needs one of: list, show, revoke/ })
  t.match(await gatewright(['--json'], env), { code: 2, output: /"message": "npx gatewright needs one of: / })
  t.match(await gatewright(['keys', 'show', 'a', 'b'], env), { code: 2, output: /^keys show takes KEY_ID/ })
})

t.test('suggests the command or option that was meant', async t => {
  for (const [args, message] of [
    [['key', 'list', 'x'], /unknown command "key"\n\(Did you mean keys\?\)\nSee npx gatewright --help/],
    [
      ['keys', 'lst', 'x'],
      /unknown command "keys lst"\n\(Did you mean list\?\)\nSee npx gatewright keys --help/,
    ],
    [['help', 'keys', 'shwo'], /unknown command "keys shwo"\n\(Did you mean show\?\)/],
    [['audit', 'list', '--acount', 'x'], /unknown option '--acount'\n\(Did you mean --account\?\)/],
    [['audit', 'list', '--jsno'], /\(Did you mean --json\?\)/],
    [['audit', 'list', '--limit'], /option '--limit <VALUE>' argument missing/],
  ] as const) {
    t.match(await gatewright(args, env), { code: 2, output: message }, args.join(' '))
  }
})

t.test('prints its version', async t => {
  t.match(await gatewrightProcess(['--version'], env), { code: 0, output: /^\d+\.\d+\.\d+\n$/ })
})

t.test('prints from the bundle what the commands say of themselves', async t => {
  const lines = [
    ['help'],
    ['help', 'keys'],
    ['help', 'keys', 'revoke'],
    ['kyes', 'list'],
    ['keys', 'lst', '--json'],
    ['keys', 'show', 'a', 'b'],
  ]
  for (const args of lines)
    t.same(await gatewrightProcess(args, env), await gatewright(args, env), args.join(' '))
})

/** The sources of a file of the bundle and of those that it imports when it is loaded. */
function loadedSources(file: string, found: Map<string, readonly string[]> = new Map()): readonly string[] {
  if (found.has(file)) return []
  const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { sources: readonly string[] }
  found.set(file, sources)
  for (const [, imported] of readFileSync(file, 'utf8').matchAll(/^(?:import|} from) "\.\/(.+)";$/gm))
    loadedSources(join(dirname(file), imported as string), found)
  return [...found.values()].flat()
}

t.test('loads neither commands nor the host before it knows which command runs', async t => {
  const sources = loadedSources(PROGRAMS.command)
  const expected =
    /node_modules\/commander\/|\/host\/src\/(?:cli\/|observability\/terminal|storage\/private-file)|\/src\/(?:cli\/(?:main|program-texts)|product\/version)\.ts$|cli\/command-help\.js$/
  t.same(
    sources.filter(source => !expected.test(source)),
    [],
  )
  t.ok(
    sources.some(source => source.endsWith('host/src/cli/program.ts')),
    'the parser is found',
  )
})

t.test('loads nothing of the host for mcp, which clients of agents start for each session', async t => {
  const folder = dirname(PROGRAMS.command)
  const file = readdirSync(folder).find(name => /^run-mcp-\w+\.js$/.test(name)) as string
  const sources = loadedSources(join(folder, file)).map(source => source.replace(/^(?:\.\.\/)+/, ''))
  const expected =
    /^node_modules\/commander\/|^host\/src\/(?:cli\/|observability\/terminal|storage\/private-file)|^kernel\/src\/|^src\/(?:cli\/(?:mcp\/|account\/(?:host-client|login-file)|program-texts)|product\/version)/
  t.same(
    sources.filter(source => !expected.test(source)),
    [],
  )
  t.ok(sources.includes('src/cli/mcp/bridge.ts'))
})

const run = (width: number | undefined, ...args: string[]) =>
  runCommand(args, {
    env,
    ask: undefined,
    terminal: width === undefined ? undefined : { width, colors: false },
  })

t.test('fits tables to the width of the terminal without cutting an id', async t => {
  const name = `${'漢字'.repeat(30)} and more`
  await gatewright(['partner-keys', 'create', name], env)
  const [{ keyId }] = JSON.parse((await run(undefined, 'partner-keys', 'list', '--json')).out) as [
    { keyId: string },
  ]
  const columns = (line: string): number => line.length + (line.match(/[漢字]/g)?.length ?? 0)
  for (const width of [80, 50]) {
    const { out } = await run(width, 'partner-keys', 'list')
    const lines = out.split('\n')
    t.equal(lines.length, 2)
    t.ok(
      lines.every(line => columns(line) <= width),
      `${width} columns`,
    )
    t.match(lines[1], /…/)
    t.match(lines[1], keyId)
  }
  t.match(
    (await run(20, 'partner-keys', 'list')).out,
    new RegExp(`^KEY +${keyId}$`, 'm'),
    'a block of fields',
  )
  t.match((await run(undefined, 'partner-keys', 'list')).out, name)
  t.match((await run(0, 'partner-keys', 'list')).out, name, 'a terminal that does not know its width')
  t.match(JSON.parse((await run(40, 'partner-keys', 'list', '--json')).out), [{ name }])
})

t.test('leaves columns out before it cuts texts, and says so', async t => {
  const wide = (await run(200, 'operations')).out
  t.match(wide, /^OPERATION .* PATH .* SCOPES +IDEMPOTENT$/m)
  const { out } = await run(80, 'operations')
  t.match(out, /^OPERATION +METHOD +PATH$/m)
  t.match(out, /^Not shown: IDEMPOTENT, SCOPES, CREDENTIAL \(--json prints all\)\.$/m)
  t.ok(out.split('\n').every(line => line.length <= 80))
})

t.test('prints short instants and colours to a terminal only', async t => {
  const { out } = await run(undefined, 'partner-keys', 'create', 'Acme', '--json')
  const { partnerId } = JSON.parse(out) as { partnerId: string }
  const list = ['keys', 'list', partnerId]
  t.match((await run(undefined, ...list)).out, /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/)
  const shown = (await run(100, ...list)).out
  t.match(shown, / live +\d\d-\d\d \d\d:\d\d +- +- +\d+ scopes$/m)
  const colored = await runCommand(list, { env, ask: undefined, terminal: { width: 100, colors: true } })
  t.match(colored.out, '\u001b[32mlive\u001b[0m')
  // eslint-disable-next-line no-control-regex
  t.equal(colored.out.replaceAll(/\u001b\[\d+m/g, ''), shown)
})

t.test('prints errors as JSON with --json: a code and a message', async t => {
  const failed = await run(80, 'keys', 'show', 'nope', '--json')
  t.same(
    { ...failed, problem: JSON.parse(failed.problem) as unknown },
    {
      code: 1,
      out: '',
      problem: { error: 'failed', message: 'no key nope' },
    },
  )
  const wrong = await run(80, 'keys', 'shwo', '--json')
  t.match(JSON.parse(wrong.problem), { error: 'usage', message: /unknown command "keys shwo"/ })
  t.equal(wrong.code, 2)
})

t.test('completes commands, verbs and options in bash', async t => {
  const script = (await gatewright(['completion', 'bash'], env)).output
  const complete = async (line: string): Promise<string[]> => {
    const words = ['gatewright', ...line.split(' ')]
    const array = words.map(word => `"${word}"`).join(' ')
    const text = `${script}\nCOMP_WORDS=(${array}); COMP_CWORD=${words.length - 1}; _gatewright; echo "\${COMPREPLY[@]}"`
    const { stdout } = await promisify(execFile)('bash', ['-c', text])
    return stdout.trim().split(' ').filter(Boolean)
  }
  t.ok((await complete('')).includes('ledger'))
  t.same(await complete('led'), ['ledger'])
  t.same(await complete('ledger ch'), ['check'])
  t.same(await complete('ledger check --fu'), ['--full'])
  t.same(await complete('explain-token --fi'), ['--file'])
  t.same(await complete('keys show abc --js'), ['--json'])
  t.match((await gatewright(['completion', 'zsh'], env)).output, /^#compdef gatewright$/m)
  t.match((await gatewright(['completion', 'fish'], env)).output, /^complete -c gatewright -f/m)
  t.match(await gatewright(['completion', 'tcsh'], env), {
    code: 2,
    output: /SHELL must be bash, zsh or fish/,
  })
})

t.test('prints operations and help beside a running host', async t => {
  const { DATA_DIR, ...rest } = env
  const folder = join(DATA_DIR, 'nobody')
  const { code, output } = await gatewright(['operations'], { ...rest, DATA_DIR: folder })
  t.equal(code, 0)
  t.match(output, /^auth\.bootstrap /m)
  t.notOk(existsSync(folder), 'no store was opened')
})

t.test('says that long work has begun, apart from its output', async t => {
  const notes: string[] = []
  const progress = (note: string): void => void notes.push(note)
  const { out } = await runCommand(['ledger', 'check'], { env, ask: undefined, progress })
  t.match(out, /^Balanced: 0 transfers checked/)
  t.match(notes, [/^Adding up every transfer/])
})
