import { fork, type ChildProcess } from 'node:child_process'

/**
 * Starts a compiled module (`new URL('./x.child.js', import.meta.url)`) in a process of its own. It must not
 * inherit the loaders that tap runs a test with: they do not know this compiler and end the child.
 */
export function startChild(
  module: URL,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): ChildProcess {
  return fork(module, [...args], { execArgv: ['--enable-source-maps', ...flags] })
}
