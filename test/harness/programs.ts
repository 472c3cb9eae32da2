/** The compiled files of the host and of the operator command. */
export const COMPILED = {
  host: 'packages/reference-host/dist/main.js',
  command: 'packages/reference-host/dist/cli/main.js',
} as const

/** The script of the host, and that of the operator command, as users run them: bundled by the build. */
export const PROGRAMS = {
  host: 'packages/reference-host/dist/programs/main.js',
  command: 'packages/reference-host/dist/programs/command.js',
} as const
