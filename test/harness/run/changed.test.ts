import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { changedSince, reachedBy } from './changed.ts'

const TESTS = [
  'test/kernel/scope.test.ts',
  'test/legacy-alias-router/router.test.ts',
  'test/kernel/address.test.ts',
]

t.test('a changed source runs the tests that import it, directly or through other sources', async t => {
  const { tests, unseen } = await reachedBy(['packages/kernel/src/address.ts'], TESTS)
  t.same(tests, ['test/kernel/address.test.ts'])
  t.same(unseen, [])
  const throughOthers = await reachedBy(['packages/kernel/src/fault.ts'], TESTS)
  t.ok(throughOthers.tests.includes('test/legacy-alias-router/router.test.ts'))
})

t.test('a changed test runs', async t => {
  const { tests } = await reachedBy(['test/kernel/scope.test.ts'], TESTS)
  t.same(tests, ['test/kernel/scope.test.ts'])
})

t.test('a change of the command runs the tests that start it', async t => {
  const { tests } = await reachedBy(
    ['packages/reference-host/src/cli/main.ts'],
    [...TESTS, 'test/reference-host/cli/account.test.ts'],
  )
  t.same(tests, ['test/reference-host/cli/account.test.ts'])
})

t.test('a changed file that no test imports is named, and runs nothing', async t => {
  t.same(await reachedBy(['README.md', 'package-lock.json'], TESTS), {
    tests: [],
    unseen: ['README.md', 'package-lock.json'],
  })
})

t.test('changed files are those committed since, those of the folder, and new ones', async t => {
  const folder = t.testdir()
  const git = (...args: string[]): void => {
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], { cwd: folder })
  }
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  git('init', '-q')
  write('.gitignore', 'ignored.ts\n')
  for (const name of ['same.ts', 'committed.ts', 'changed.ts']) write(name, '1')
  git('add', '.')
  git('commit', '-qm', 'first')
  write('committed.ts', '2')
  git('commit', '-qam', 'second')
  write('changed.ts', '2')
  write('new.ts', '1')
  write('ignored.ts', '1')
  t.same(changedSince('HEAD~1', folder).toSorted(), ['changed.ts', 'committed.ts', 'new.ts'])
  t.throws(() => changedSince('no-such-revision', folder))
})
