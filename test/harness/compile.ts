import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runNode } from './node.ts'

/**
 * Compiles texts as modules, together, in `build/<folder>`, where their JavaScript is left beside them. Resolves to the
 * compiler's output, whose lines name the files and lines given; empty when all is well.
 */
export async function compile(folder: string, files: Readonly<Record<string, string>>): Promise<string> {
  const directory = join('build', folder)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  for (const [name, code] of Object.entries(files))
    writeFileSync(join(directory, name), `${code}\nexport {}\n`)
  const compilerOptions = {
    composite: false,
    // Nobody debugs these.
    declarationMap: false,
    sourceMap: false,
    isolatedDeclarations: false,
    rootDir: '.',
    outDir: '.',
    // As in a project with Nest.
    experimentalDecorators: true,
  }
  const tsconfig = {
    extends: '../../tsconfig.json',
    compilerOptions,
    include: ['*.ts'],
    exclude: [],
    references: [],
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(tsconfig))
  // Several threads would check what they share again, and the tests have other work for them.
  const args = ['node_modules/typescript/bin/tsc', '-p', directory, '--singleThreaded']
  const { code, output } = await runNode(args)
  return code === 0 ? '' : `${output}exit ${code}`
}
