import { basename } from 'node:path'
import { filesBelow } from '../harness/files.ts'

/** The names of all benches: `signature-verifier` is `test/bench/signature-verifier.bench.ts`. */
export function benchNames(): string[] {
  return filesBelow('test/bench', '.bench.ts').map(path => basename(path, '.bench.ts'))
}

/**
 * Arguments of Node that run a compiled bench. It finds Redis at `TEST_REDIS_URL` and Postgres at `TEST_POSTGRES_URL`, and
 * the packages of test/tools must be installed.
 */
export function benchArguments(module: string): string[] {
  return ['--expose-gc', '--enable-source-maps', '--import', './build/test/bench/exit-on-signals.js', module]
}

/** The compiled module of a bench. */
export function benchModule(name: string): string {
  return `build/test/bench/${name}.bench.js`
}
