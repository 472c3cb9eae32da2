import { dirname } from 'node:path'
import type { FileRun } from './test-process.ts'

/** What a report prints on. */
export interface ReportOutput {
  write(text: string): void
  /** Whether a person watches: then one line shows the progress, in place of a line for each folder. */
  readonly isTTY?: boolean
}

/** A folder of tests while its files run. */
interface Folder {
  left: number
  files: number
  passed: number
  cpuMs: number
}

/** So many parts of a path name a folder of the report: `test/scope-guard/policies`. */
const FOLDER_PARTS = 3
/** So many files are named at the end, with their CPU time. */
const MOST_CPU = 10

/**
 * Prints how a run of test files goes: one line that changes on a terminal, otherwise one line for each folder when its last file has
 * ended. A file that fails is printed at once, with what it wrote on stderr and the command that runs it alone. What files that pass
 * write on stderr is not printed: tests provoke warnings and refusals.
 */
export class TestReport {
  readonly #output: ReportOutput
  readonly #began = performance.now()
  readonly #folders = new Map<string, Folder>()
  readonly #runs: FileRun[] = []
  readonly #count: number
  #failures = 0

  /** `files`: the sources that will run, each as often as it will. */
  constructor(files: readonly string[], output: ReportOutput) {
    this.#output = output
    this.#count = files.length
    for (const file of files) {
      const folder = this.#folders.get(folderOf(file)) ?? { left: 0, files: 0, passed: 0, cpuMs: 0 }
      folder.left += 1
      this.#folders.set(folderOf(file), folder)
    }
  }

  /** A file has ended. `env`: what was added to its environment. */
  ended(run: FileRun, env: Readonly<Record<string, string>> = {}): void {
    this.#runs.push(run)
    if (run.failures.length > 0) this.line(failureText(run, env))
    const name = folderOf(run.file)
    const folder = this.#folders.get(name)
    if (!folder) return
    folder.left -= 1
    folder.files += 1
    folder.passed += run.passed
    folder.cpuMs += run.cpuMs
    if (this.#output.isTTY) this.#progress()
    else if (folder.left === 0) this.line(`${name}: ${folderText(folder)}`)
  }

  /** Something failed that is no test of a file. */
  failed(text: string): void {
    this.#failures += 1
    this.line(`not ok ${text}`)
  }

  /** Prints a line of its own. */
  line(text: string): void {
    this.#output.write(`${this.#output.isTTY ? CLEAR : ''}${text}\n`)
  }

  /** Prints the end, `N passed, N failed`, and returns how many failed: each file that has not run counts as one. */
  close(hostStarts: number): number {
    const notRun = this.#count - this.#runs.length
    if (notRun > 0) this.line(`not ok ${notRun} files were not run`)
    for (const { file, cpuMs } of this.#runs.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, MOST_CPU))
      this.line(`# ${seconds(cpuMs).padStart(6)} s of CPU  ${sourceOf(file)}`)
    const [passed, failed] = this.#totals()
    this.line(`# ${hostStarts} hosts started`)
    const cpuMs = this.#runs.reduce((total, run) => total + run.cpuMs, 0)
    this.line(`# ${this.#count} files in ${seconds(this.#took())} s, ${seconds(cpuMs)} s of CPU`)
    this.line(`${passed} passed, ${failed + notRun} failed`)
    return failed + notRun
  }

  #progress(): void {
    const [passed, failed] = this.#totals()
    const done = `${this.#runs.length} of ${this.#count} files, ${passed} passed, ${failed} failed`
    this.#output.write(`${CLEAR}${done}, ${seconds(this.#took())} s`)
  }

  #totals(): [passed: number, failed: number] {
    return [
      this.#runs.reduce((total, { passed }) => total + passed, 0),
      this.#runs.reduce((total, { failures }) => total + failures.length, this.#failures),
    ]
  }

  #took(): number {
    return performance.now() - this.#began
  }
}

/** To the start of the line, and clears it. */
const CLEAR = '\r\u001B[K'

function failureText({ file, failures, output }: FileRun, env: Readonly<Record<string, string>>): string {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value} `)
  return [
    ...failures.map(failure => `not ok ${sourceOf(file)} > ${failure}`),
    ...(output === '' ? [] : [`# its output:`, output.trimEnd()]),
    `# alone: ${settings.join('')}npm test -- ${sourceOf(file)}`,
  ].join('\n')
}

function folderText({ files, passed, cpuMs }: Folder): string {
  return `${files} ${files === 1 ? 'file' : 'files'}, ${passed} passed, ${seconds(cpuMs)} s of CPU`
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1)

/** The source of a compiled test file. */
const sourceOf = (file: string): string => file.replace(/^build\//, '').replace(/\.js$/, '.ts')

const folderOf = (file: string): string => dirname(sourceOf(file)).split('/').slice(0, FOLDER_PARTS).join('/')
