import { collectTests, failingTests, type TestRunner } from '@gatewright/kernel/testing'
import t from 'tap'

const suite = ({ describe, it }: TestRunner): void => {
  it('passes', async () => {})
  describe('a group', () => {
    it('rejects', () => Promise.reject(new Error('no')))
    describe('a group in a group', () => {
      it('throws before it returns', () => {
        throw new Error('no')
      })
    })
  })
  it('passes too', async () => {})
}

t.test('collects the tests of a suite in order, without running them', async t => {
  const names = ['passes', 'rejects', 'throws before it returns', 'passes too']
  t.same(
    collectTests(suite).map(test => test.name),
    names,
  )
})

t.test('returns tests that can be run', async t => {
  const [passes, rejects] = collectTests(suite)
  await passes?.run()
  await t.rejects(rejects?.run() ?? Promise.resolve(), { message: 'no' })
})

t.test('names the tests that throw or reject, and runs the rest', async t => {
  t.same(await failingTests(suite), ['rejects', 'throws before it returns'])
})
