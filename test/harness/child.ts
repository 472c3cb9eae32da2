import { fork, spawn, type ChildProcess } from 'node:child_process'

/**
 * Starts a compiled module (`new URL('./x.child.js', import.meta.url)`) in a process of its own. It must not
 * inherit the loaders that tap runs a test with: they do not know this compiler and end the child. With `errors: 'pipe'`, its
 * standard error is a pipe.
 */
export function startChild(
  module: URL,
  args: readonly string[] = [],
  flags: readonly string[] = [],
  errors: 'inherit' | 'pipe' = 'inherit',
): ChildProcess {
  return fork(module, [...args], {
    execArgv: ['--enable-source-maps', ...flags],
    stdio: ['inherit', 'inherit', errors, 'ipc'],
  })
}

/** Starts a compiled program as `startChild` does, with further variables, and keeps what it prints. */
export function startOutput(
  program: string,
  flags: readonly string[],
  variables: Readonly<Record<string, string>>,
): { readonly child: ChildProcess; output(): string } {
  const env = { ...process.env, ...variables }
  const child = spawn(process.execPath, ['--enable-source-maps', ...flags, program], { env })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (printed += String(chunk)))
  return { child, output: () => printed }
}
