import { bundled } from './bundle.ts'

/** The variables that name the bundled programs. */
const BUNDLED = { host: 'TEST_HOST_PROGRAM', command: 'TEST_COMMAND_PROGRAM' } as const
/** Their compiled files. */
export const COMPILED = {
  host: 'packages/reference-host/dist/main.js',
  command: 'packages/reference-host/dist/cli/main.js',
} as const

/** The script of the host, and that of the operator command: bundled, if the runner of the tests started this process. */
export const PROGRAMS: Readonly<Record<keyof typeof BUNDLED, string>> = {
  host: process.env[BUNDLED.host] ?? COMPILED.host,
  command: process.env[BUNDLED.command] ?? COMPILED.command,
}

/**
 * Bundles both until this process ends, and resolves to the variables by which processes of tests find them. Tests start them
 * hundreds of times, and loading their thousand files takes most of a start.
 */
export async function bundledPrograms(): Promise<NodeJS.ProcessEnv> {
  const [host, command] = await bundled([COMPILED.host, COMPILED.command])
  return { [BUNDLED.host]: host, [BUNDLED.command]: command }
}
