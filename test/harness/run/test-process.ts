import { createInterface } from 'node:readline'
import { Parser, type FinalResults, type Result } from 'tap-parser'
import { FILE_USED } from './cpu-time.ts'
import { FILE_BEGINS, FILE_ENDED } from './file-marks.ts'
import { HOST_STARTED } from './host-starts.ts'
import { plainNode } from '../node.ts'

/** Test files that run under the same conditions, each once. */
export interface TestProcess {
  /** Compiled. Each run of a process takes some, so that several processes may share the list. */
  readonly files: string[]
  /** How many of them one process may run, one after the other: what they import is loaded once. By default 1. */
  readonly together?: number
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>
}

/** The result of one of them. */
export interface FileRun {
  readonly file: string
  /** CPU time of its process, of processes that it started, and of its servers. */
  readonly cpuMs: number
  readonly passed: number
  /** One text each. A file that does not end, runs no test or skips one has failed. */
  readonly failures: readonly string[]
  /** The end of what was written on stderr meanwhile. */
  readonly output: string
}

/** What is known of a process when it has ended. */
export interface ProcessRun {
  /** Lines that tests printed as `# measured ...`. */
  readonly measured: readonly string[]
  readonly hostStarts: number
  /** What failed, if no file has. */
  readonly failure?: string
}

/** How a process is run. */
export interface ProcessSetting {
  readonly env: NodeJS.ProcessEnv
  /** Takes files from the end of the list: by default from its front. */
  readonly fromEnd?: boolean
  /** For each file. A process of several files is killed after four times as long: one that waits for ever must not use up CI. */
  readonly timeoutMs: number
  /** Kills it. */
  readonly signal: AbortSignal
  /** Called once for each file, when it has ended. */
  readonly ended: (run: FileRun) => void
}

/** Tests make much garbage that does not live long: with the young space of 16 MiB they spend twice as long in collecting it. */
const FLAGS = ['--enable-source-maps', '--max-semi-space-size=64']
/** Characters of what a file wrote on stderr that are kept. */
const LONGEST_OUTPUT = 20_000

/** Runs one process: it takes test files of the list, and what tap prints is read. The list has one at least. */
export async function runTests(
  { files, together = 1, env }: TestProcess,
  { env: ownEnv, fromEnd = false, timeoutMs, signal, ended }: ProcessSetting,
): Promise<ProcessRun> {
  const several = together > 1
  const take = (): string[] => files.splice(fromEnd ? -1 : 0, 1)
  const taken = take()
  const child = plainNode(
    [...FLAGS, `build/test/harness/run/${several ? 'several' : 'alone'}.js`, ...taken],
    {
      stdio: ['ignore', 'pipe', 'pipe', ...(several ? ['ipc' as const] : [])],
      // tap's own limit of one test is that of a file.
      env: { ...ownEnv, TAP_TIMEOUT: String(timeoutMs / 1000), ...env },
      signal,
      timeout: timeoutMs * (several ? 4 : 1),
      killSignal: 'SIGKILL',
    },
  )
  const reading = new Reading(taken, several, ended)
  child.on('message', message => {
    // tap has messages of its own.
    if (message !== 'next') return
    const [next = ''] = taken.length < together ? take() : []
    if (next !== '') taken.push(next)
    child.send(next)
  })
  child.stdout?.on('data', (chunk: Buffer) => reading.parser.write(chunk))
  if (child.stderr) createInterface(child.stderr).on('line', line => reading.wrote(line))
  const end = await new Promise<string>(resolve => {
    child.once('error', error => resolve(error.name === 'AbortError' ? 'was stopped' : error.message))
    child.once('close', (code, by) => resolve(code === 0 ? '' : `ended with ${by ?? `code ${code}`}`))
  })
  return reading.end(end)
}

/** One test file while its process runs. */
class ReadFile {
  readonly results: Result[] = []
  cpuMs: number | undefined
  written = ''
  /** Both streams have come to its end. */
  readEnds = 0
  ended = false
  /** The test that stands for it in a process of several files has passed. */
  hasPassed = false
}

/** In place of a file: what is written between two files belongs to the later one, which fails if the process ends. */
const NEXT = ''

class Reading {
  readonly parser = new Parser(results => {
    this.#final = results
  })
  readonly #read = new Map<string, ReadFile>()
  readonly #measured: string[] = []
  readonly #several: boolean
  /** Grows while the process takes files. */
  readonly #files: readonly string[]
  readonly #ended: (run: FileRun) => void
  #hostStarts = 0
  #final: FinalResults | undefined
  #failed = false
  /** The file that writes on stderr. */
  #writing: string

  constructor(files: readonly string[], several: boolean, ended: (run: FileRun) => void) {
    const { parser } = this
    this.#files = files
    this.#several = several
    this.#ended = ended
    this.#writing = files[0] ?? ''
    parser.on('result', (result: Result) => {
      const file = several ? files.findLast(file => result.fullname.startsWith(file)) : files[0]
      // The error of a file's teardown comes without its name, before the comment behind its results.
      const running = files.find(file => this.#of(file).cpuMs === undefined)
      this.#of(file ?? running ?? '').results.push(result)
    })
    parser.on('assert', ({ ok, fullname }: Result) => {
      if (several && ok && files.includes(fullname)) this.#of(fullname).hasPassed = true
    })
    this.#readComments(parser)
  }

  /** The process wrote a line on stderr. */
  wrote(line: string): void {
    if (line.startsWith(FILE_BEGINS)) this.#beginsToWrite(line.slice(FILE_BEGINS.length))
    else if (line.startsWith(FILE_ENDED)) {
      this.#atEnd(line.slice(FILE_ENDED.length))
      this.#writing = NEXT
    } else {
      const read = this.#of(this.#writing)
      read.written = `${read.written}${line}\n`.slice(-LONGEST_OUTPUT)
    }
  }

  #beginsToWrite(file: string): void {
    const between = this.#of(NEXT)
    this.#of(file).written = between.written
    between.written = ''
    this.#writing = file
  }

  /** `end`: how the process ended, if not well. */
  end(end: string): ProcessRun {
    this.parser.end()
    const unread = this.#files.find(file => !this.#of(file).ended)
    if (this.#writing === NEXT && unread !== undefined) this.#beginsToWrite(unread)
    for (const file of this.#files) {
      const read = this.#of(file)
      if (read.ended) continue
      // The comment behind its results may be lost if the next file ends the process while it is loaded.
      const ended = this.#several
        ? read.cpuMs !== undefined || read.hasPassed
        : end === '' || read.results.some(({ ok }) => !ok)
      this.#close(file, ended ? [] : [`did not end: its process ${end === '' ? 'ended early' : end}`])
    }
    const well = this.#failed || (end === '' && this.#final?.ok === true)
    const measured = this.#measured
    const hostStarts = this.#hostStarts
    if (well) return { measured, hostStarts }
    const failure = `a process ${end === '' ? 'printed no end' : end}, though no test failed: ${this.#files.join(' ')}`
    return { measured, hostStarts, failure }
  }

  #of(file: string): ReadFile {
    const read = this.#read.get(file) ?? new ReadFile()
    this.#read.set(file, read)
    return read
  }

  /** One of the two streams has come to the end of a file. */
  #atEnd(file: string): void {
    const read = this.#of(file)
    read.readEnds += 1
    if (read.readEnds === 2) this.#close(file, [])
  }

  #close(file: string, more: readonly string[]): void {
    const read = this.#of(file)
    read.ended = true
    const failures = [...more, ...read.results.flatMap(result => failureOf(result, file))]
    // A file without tests passes as a test of its process.
    const tests = read.results.filter(({ fullname }) => fullname !== file)
    const passed = tests.filter(({ ok, skip, todo }) => ok && !skip && !todo).length
    if (passed === 0 && failures.length === 0) failures.push('ran no tests')
    if (failures.length > 0) this.#failed = true
    this.#ended({ file, cpuMs: read.cpuMs ?? 0, passed, failures, output: read.written })
    read.results.length = 0
  }

  #used(text: string): void {
    const [, , ms, file = ''] = text.trim().split(' ')
    this.#of(file).cpuMs = Number(ms)
    if (this.#several) this.#atEnd(file)
  }

  /** The output of a subtest is a child of its test's. */
  #readComments(within: Parser): void {
    within.on('comment', (text: string) => {
      if (text.startsWith('# measured')) this.#measured.push(text.trimEnd())
      if (text.startsWith(HOST_STARTED)) this.#hostStarts++
      if (text.startsWith(`# ${FILE_USED} `)) this.#used(text)
    })
    within.on('child', (child: Parser) => this.#readComments(child))
  }
}

function failureOf({ ok, skip, todo, fullname, name, diag }: Result, file: string): string[] {
  const title = `${fullname.replace(file, '').trim()} > ${name}`
  if (ok) return skip || todo ? [`${title}: a skipped test proves nothing`] : []
  return [`${title}\n${diag ? JSON.stringify(diag, null, 2) : ''}`]
}
