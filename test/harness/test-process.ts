import { Parser, type FinalResults, type Result } from 'tap-parser'
import { FILE_USED } from './cpu-time.ts'
import { HOST_STARTED } from './host-starts.ts'
import { plainNode } from './node.ts'

/** Test files that run under the same conditions, each once. */
export interface TestProcess {
  /** Compiled. Each run of a process takes some from the front, so that several processes may share the list. */
  readonly files: string[]
  /** How many of them one process may run, one after the other: what they import is loaded once. By default 1. */
  readonly together?: number
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>
}

/** The result of one of them. */
export interface FileRun {
  readonly file: string
  ms: number
  /** CPU time of its process, of processes that it started, and of its servers. */
  cpuMs: number
  passed: number
  /** One text each. A file that does not end, runs no test or skips one has failed. */
  readonly failures: string[]
}

/** The results of all of them. */
export interface ProcessRun {
  readonly files: readonly FileRun[]
  /** Lines that tests printed as `# measured ...`. */
  readonly measured: readonly string[]
  readonly hostStarts: number
}

/** How a process is run. */
export interface ProcessSetting {
  readonly env: NodeJS.ProcessEnv
  /** For each file. A process of several files is killed after four times as long: one that waits for ever must not use up CI. */
  readonly timeoutMs: number
  /** Kills it. */
  readonly signal: AbortSignal
}

/** Tests make much garbage that does not live long: with the young space of 16 MiB they spend twice as long in collecting it. */
const FLAGS = ['--enable-source-maps', '--max-semi-space-size=64']

/** Runs one process: it takes test files of the list, and what tap prints is read. The list has one at least. */
export async function runTests(
  { files, together = 1, env }: TestProcess,
  setting: ProcessSetting,
): Promise<ProcessRun> {
  const { timeoutMs, signal } = setting
  const several = together > 1
  const began = performance.now()
  const taken = files.splice(0, 1)
  const child = plainNode([...FLAGS, `build/test/harness/${several ? 'several' : 'alone'}.js`, ...taken], {
    stdio: ['ignore', 'pipe', 'inherit', ...(several ? ['ipc' as const] : [])],
    // tap's own limit of one test is that of a file.
    env: { ...setting.env, TAP_TIMEOUT: String(timeoutMs / 1000), ...env },
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs * (several ? 4 : 1))]),
    killSignal: 'SIGKILL',
  })
  const reading = new Reading(taken, several)
  child.on('message', message => {
    // tap has messages of its own.
    if (message !== 'next') return
    const [next = ''] = taken.length < together ? files.splice(0, 1) : []
    if (next !== '') taken.push(next)
    child.send(next)
  })
  child.stdout?.on('data', (chunk: Buffer) => reading.parser.write(chunk))
  const end = await new Promise<string>(resolve => {
    child.once('error', error => resolve(error.name === 'AbortError' ? 'was stopped' : error.message))
    child.once('close', (code, by) => resolve(code === 0 ? '' : `ended with ${by ?? `code ${code}`}`))
  })
  return reading.end(end, performance.now() - began)
}

class Reading {
  readonly parser = new Parser(results => {
    this.#final = results
  })
  readonly #runs = new Map<string, FileRun>()
  readonly #results: Result[] = []
  readonly #measured: string[] = []
  #hostStarts = 0
  #final: FinalResults | undefined
  /** Grows while the process takes files. */
  readonly #files: readonly string[]
  readonly #several: boolean

  constructor(files: readonly string[], several: boolean) {
    const { parser } = this
    this.#files = files
    this.#several = several
    parser.on('result', (result: Result) => this.#results.push(result))
    // One of several files is a test of its own. A file alone has its tests at the top.
    const alone = several ? undefined : files[0]
    parser.on('assert', ({ name, time }: Result) => {
      const file = alone ?? name
      this.#runs.set(file, { file, ms: time ?? 0, cpuMs: 0, passed: 0, failures: [] })
    })
    this.#readComments(parser)
  }

  /** `ms`: how long the process ran. */
  end(end: string, ms: number): ProcessRun {
    this.parser.end()
    const files = this.#files
    for (const file of files) {
      if (this.#runs.has(file)) continue
      const failures = [`did not end: its process ${end === '' ? 'ended early' : end}`]
      this.#runs.set(file, { file, ms: 0, cpuMs: 0, passed: 0, failures })
    }
    const runs = [...this.#runs.values()]
    if (!this.#several) for (const run of runs) run.ms = ms
    for (const result of this.#results) this.#count(result, runs)
    for (const run of runs) if (run.passed === 0) run.failures.push('ran no tests')
    const failed = runs.some(({ failures }) => failures.length > 0)
    if (!failed && (end !== '' || !this.#final?.ok)) {
      runs[0]?.failures.push(`its process ${end === '' ? 'printed no end' : end}, though no test failed`)
    }
    return { files: runs, measured: this.#measured, hostStarts: this.#hostStarts }
  }

  #count({ ok, skip, todo, fullname, name, diag }: Result, runs: readonly FileRun[]): void {
    const run = runs.find(({ file }) => fullname.startsWith(file)) ?? runs[0]
    if (!run) return
    const title = `${fullname.replace(run.file, '').trim()} > ${name}`
    if (ok && (skip || todo)) run.failures.push(`${title}: a skipped test proves nothing`)
    else if (ok) run.passed++
    else run.failures.push(`${title}\n${diag ? JSON.stringify(diag, null, 2) : ''}`)
  }

  #used(text: string): void {
    const [ms, file] = text.slice(FILE_USED.length).trim().split(' ')
    const run = this.#runs.get(file ?? '')
    if (run) run.cpuMs = Number(ms)
  }

  /** The output of a subtest is a child of its test's. */
  #readComments(within: Parser): void {
    within.on('comment', (text: string) => {
      if (text.startsWith('# measured')) this.#measured.push(text.trimEnd())
      if (text.startsWith(HOST_STARTED)) this.#hostStarts++
      if (text.startsWith(FILE_USED)) this.#used(text)
    })
    within.on('child', (child: Parser) => this.#readComments(child))
  }
}
