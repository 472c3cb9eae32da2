// Three public starters, rebuilt in few files: their own tests pass before and after Gatewright is added, and money moves once.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { runNode } from '../../harness/node.ts'
import { installInto } from '../empty-project.ts'
import { tarballsIn } from '../quick-starts/tarballs.ts'
import { EXPRESS } from './express.ts'
import { KOA } from './koa.ts'
import { NEST } from './nest.ts'
import { changedLines, type Starter } from './starter.ts'
import { temporaryFolder } from '../../harness/files.ts'

/** What each starter installs, in versions that work on the oldest Node.js. */
const STARTERS: readonly { readonly starter: Starter; readonly packages: readonly string[] }[] = [
  {
    starter: EXPRESS,
    packages: ['express@5', 'cors@2', 'helmet@8', 'express-rate-limit@8', 'zod@4', 'vitest@3', 'tsx@4'],
  },
  {
    starter: NEST,
    packages: [
      ...['common', 'core', 'platform-express', 'testing'].map(name => `@nestjs/${name}@11`),
      'reflect-metadata',
      'rxjs',
      'jest@29',
      'ts-jest@29',
      'typescript@5.9',
      '@types/jest@29',
      '@types/node@20',
    ],
  },
  { starter: KOA, packages: ['koa@3', 'koa-body@6', '@koa/router@13'] },
]

const directory = temporaryFolder(t)
t.setTimeout(1_800_000)
const tarballs = tarballsIn(directory)

async function passes(t: Test, folder: string, args: readonly string[], name: string): Promise<void> {
  const { PATH, HOME } = process.env
  const { code, output } = await runNode(args, { PATH, HOME }, folder)
  t.equal(code, 0, `${name}${code === 0 ? '' : `: ${output.slice(-4000)}`}`)
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

for (const { starter, packages } of STARTERS)
  t.test(`${starter.name}: tests pass before and after, and money moves once`, async t => {
    const folder = mkdtempSync(join(directory, 'starter-'))
    const project = join(folder, 'project')
    installInto(project, [...packages, ...tarballs(['gatewright'])])
    write(project, starter.files)
    const run = async (when: string): Promise<void> => {
      await passes(t, project, starter.tests, `${when}: its tests`)
      for (const [what, args] of Object.entries(starter.others))
        await passes(t, project, args, `${when}: ${what}`)
    }
    await run('before')
    write(project, { ...starter.patched })
    await run('after')
    write(project, starter.money)
    await passes(t, project, starter.tests, 'after: 50 duplicates are paid once, and a cap is exact')
    const { added, removed } = changedLines(starter)
    t.comment(
      `${starter.name}: ${added} lines added, ${removed} removed, in ${Object.keys(starter.patched).length} files`,
    )
  })
