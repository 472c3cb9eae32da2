import assert from 'node:assert/strict'
import { race } from '@gatewright/kernel/testing'
import type { SpendItem, SpendStorage } from '../storage/port.ts'

/**
 * Declares one test of the `SpendStorage` contract. `connection(n)` is the adapter over connection n, round robin; `account` is
 * new for each test.
 */
export type SpendTest = (
  title: string,
  run: (
    connection: (index: number) => SpendStorage,
    account: string,
    expiresNatively: boolean,
  ) => Promise<void>,
) => void

export const NOW = 1_767_225_600_000
export const DAY = 86_400_000

/** An amount for a counter that ends in a day, in cents unless `more` names another unit. */
export const item = (
  counter: string,
  { amount, cap, ...more }: Pick<SpendItem, 'amount' | 'cap'> & Partial<SpendItem>,
): SpendItem => ({ counter, unit: 'cents', cap, amount, expiresAt: NOW + DAY, ...more })

/** Declares the tests of `SpendStorage.usage`: what is used, and the part of it that open holds reserve. */
export function spendReadTests(test: SpendTest): void {
  test('reports held and settled amounts separately', async (connection, account) => {
    const items = [item('day', { amount: 50, cap: 200 }), item('calls', { amount: 1, cap: 5, unit: 'count' })]
    const usage = async (): Promise<unknown> => connection(1).usage(account, ['day', 'calls', 'never'])
    const never = { used: 0, held: 0 }
    await connection(0).reserve(account, 'a', items, NOW)
    await connection(0).reserve(account, 'b', items, NOW)
    await connection(0).reserve(account, 'b', items, NOW)
    await connection(0).reserve(account, null, items, NOW)
    assert.deepEqual(await usage(), [{ used: 150, held: 100 }, { used: 3, held: 2 }, never])
    await connection(1).settle(account, 'a', 20)
    assert.deepEqual(await usage(), [{ used: 120, held: 50 }, { used: 3, held: 1 }, never])
    await connection(1).release(account, 'b')
    assert.deepEqual(await usage(), [{ used: 70, held: 0 }, { used: 2, held: 0 }, never])
  })

  test('counts nothing as held once every one of 40 simultaneous holds has ended', async (connection, account) => {
    await race(40, index =>
      connection(index).reserve(account, `h${index}`, [item('day', { amount: 5, cap: 200 })], NOW),
    )
    assert.deepEqual(await connection(0).usage(account, ['day']), [{ used: 200, held: 200 }])
    await race<unknown>(80, index => {
      const hold = `h${index >> 1}`
      return index % 2 ? connection(index).settle(account, hold, 2) : connection(index).release(account, hold)
    })
    const [day] = await connection(0).usage(account, ['day'])
    assert.equal(day?.held, 0)
  })
}
