import { getHeapSnapshot } from 'node:v8'
import t from 'tap'
import { bench } from '../issuer.ts'

/** Which of some byte strings a heap snapshot of this process shows. */
async function inHeap(wanted: readonly Buffer[]): Promise<boolean[]> {
  const chunks: Buffer[] = []
  for await (const chunk of getHeapSnapshot()) chunks.push(Buffer.from(chunk as Buffer))
  const snapshot = Buffer.concat(chunks)
  return wanted.map(bytes => snapshot.includes(bytes))
}

t.test('keeps tokens out of heap snapshots', async t => {
  const { guard, bearer } = await bench()
  /** Uses a token. What is left of it is a part of its signature, as bytes. */
  const use = async (sessionId: string, kept: string[]): Promise<Buffer> => {
    const authorization = await bearer({ sessionId })
    t.equal((await guard.check({ authorization }, { operation: 'a.b', allOf: [] })).ok, true)
    kept.push(...kept.map(() => authorization))
    return Buffer.from(authorization.slice(-60, -20))
  }
  const kept = ['']
  const parts = [await use('forgotten', []), await use('kept', kept)]
  t.same(await inHeap(parts), [false, true])
  t.equal(kept.length, 2)
})
